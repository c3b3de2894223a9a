import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Start } from '../berth/start.ts'

/** Opens Berth with axe in a light page without animations. */
export async function pageWithAxe(start: Start, address: string) {
  const { page } = await start.page('about:blank', {
    colorScheme: 'light',
    viewport: { width: 1280, height: 800 },
  })
  await page.addInitScript(axe.source)
  const settle = settling(page)
  await page.goto(address)
  return { page, settle }
}

/** Follows what the page asks Berth for; gives what waits until the page shows the answers. */
function settling(page: Page): () => Promise<void> {
  const asked = new Set<number>()
  const read = (payload: string | Buffer) => (typeof payload === 'string' ? payload : '')
  page.on('websocket', socket => {
    socket.on('framesent', ({ payload }) => {
      const call = /^\{"kind":"command","call":(\d+)/.exec(read(payload))?.[1]
      if (call !== undefined) asked.add(Number(call))
    })
    socket.on('framereceived', ({ payload }) => {
      const call = /^\{"kind":"(?:answer|refusal)","call":(\d+)/.exec(read(payload))?.[1]
      if (call !== undefined) asked.delete(Number(call))
    })
  })
  const drawn = () => page.evaluate(() => new Promise(requestAnimationFrame))
  return async () => {
    await drawn()
    await expect.poll(() => asked.size).toBe(0)
    await drawn()
  }
}

/**
 * What axe finds wrong with the page, or with a part of it, one line each: by all rules in the light theme, then by the
 * rules about colours in the dark one.
 */
export async function findings(page: Page, where: string, part?: string): Promise<string[]> {
  const light = await findingsNow(page, `${where} (light)`, {}, part)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findingsNow(page, `${where} (dark)`, { runOnly: ofColours }, part)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark]
}

/** The rules whose findings depend on the theme; all others find the same in both. */
const ofColours = ['color-contrast', 'link-in-text-block']

async function findingsNow(
  page: Page,
  where: string,
  options: axe.RunOptions,
  part?: string,
): Promise<string[]> {
  // Colours are measured once all animations have ended.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined))),
  )
  const violations = await page.evaluate(
    async ([selector, options]) => {
      const { axe: here } = window as typeof window & { axe: typeof axe }
      return (await here.run(selector ?? document, options)).violations
    },
    [part, options] as const,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${where}: ${id}: ${html.slice(0, 160)}`),
  )
}

/** Scans the menu or dialog that opens, then closes it. */
export async function scanOpened(page: Page, where: string): Promise<string[]> {
  const dialog = page.locator('.dialog').last()
  const opened = page.locator('.menu, .popover').or(dialog).last()
  await opened.waitFor()
  const found = await findings(page, where, (await dialog.isVisible()) ? '.dialog' : undefined)
  await page.keyboard.press('Escape')
  await opened.waitFor({ state: 'detached' })
  return found
}

/** Scans each menu and dialog in the scope in turn: those of buttons that end with `…` or have a menu. */
export async function scanEach(page: Page, where: string, scope: string): Promise<string[]> {
  const buttons = page.locator(`${scope} button:visible:enabled`)
  // Buttons that open a file chooser, become a field or lead to another screen open no menu and no dialog.
  const openers = await buttons.evaluateAll(all =>
    all.flatMap(button => {
      const text = button.textContent.trim()
      const label = button.getAttribute('aria-label')
      const opens = button.hasAttribute('aria-haspopup') || text.endsWith('…')
      return !opens || /^(Upload|Export|Import|Go to|Rent from)/.test(label ?? text) ? [] : [{ label, text }]
    }),
  )
  const found: string[] = []
  for (const [at, { label, text }] of openers.entries()) {
    // By what it says, since an answer that comes meanwhile draws it again.
    const alike = openers.slice(0, at).filter(other => other.label === label && other.text === text).length
    const saying =
      label === null ? buttons : page.locator(`${scope} button[aria-label=${JSON.stringify(label)}]`)
    const button = saying.filter({ hasText: text }).nth(alike)
    if ((await button.count()) === 0) continue
    await button.click()
    found.push(...(await scanOpened(page, `${where}, ${label ?? text}`)))
  }
  return found
}
