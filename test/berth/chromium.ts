import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/**
 * Chromium features that no test needs and that cost each page more than Berth's own code: the pages of the address
 * bar's lists, and a spare renderer. The switch counts only once, so what Playwright disables is repeated here.
 */
const withoutFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup'],
  ...['SpareRendererForSitePerProcess', 'PreloadTopChromeWebUI'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding', 'AimEnabled'],
  ...[
    'ThirdPartyStoragePartitioning',
    'OptimizationHints',
    'NetworkTimeServiceQuerying',
    'PreconnectToSearch',
  ],
]

/** Chromium as users have it. */
export const wholeChromium = process.env['BERTH_CHROMIUM'] ?? '/usr/bin/chromium'
const headlessShell = '/usr/bin/chromium-headless-shell'
/** The same engine without the browser around its pages, where installed: it takes a third less processor time. */
export const pagesOnly =
  process.env['BERTH_CHROMIUM'] || !existsSync(headlessShell) ? wholeChromium : headlessShell

/** Switches of every Chromium that tests start. */
export const commonSwitches = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--disable-features=${withoutFeatures.join(',')}`,
]

export function openBrowser(
  switches: readonly string[] = [],
  executablePath = wholeChromium,
): Promise<Browser> {
  return chromium.launch({
    timeout: 150_000,
    executablePath,
    args: [...commonSwitches, ...switches],
    // In another it does not find a dropped file whose name is not ASCII; a user without a desktop may have none.
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
}
