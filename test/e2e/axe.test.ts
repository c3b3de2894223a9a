import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { connectAccount, rentRunning } from './account-steps.ts'
import { test } from './fixtures.ts'

/** What axe finds wrong with the page as it stands, each in a line. */
async function findings(page: Page, where: string): Promise<string[]> {
  // Colours are measured as they rest, not while something comes into sight.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined))),
  )
  const violations = await page.evaluate(async () => {
    const { violations } = await (window as typeof window & { axe: typeof axe }).axe.run()
    return violations
  })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${where}: ${id}: ${html.slice(0, 160)}`),
  )
}

const screens = [
  'Home',
  'Instances',
  'Offers',
  'Templates',
  'Transfers',
  'Activity',
  'Spending',
  'Hosting',
  'Account',
  'Settings',
]

test.for(['light', 'dark'] as const)(
  'axe finds nothing wrong on any screen, nor in the palette and the first dialogs (%s)',
  async (colorScheme, { start }) => {
    const [sim, berth] = await Promise.all([start.simulator(), start.berth()])
    const { page } = await start.page('about:blank', {
      colorScheme,
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    })
    await page.addInitScript(axe.source)
    await page.goto(berth.address)
    const found: string[] = []
    const look = async (where: string) => void found.push(...(await findings(page, where)))
    const dialog = page.getByRole('dialog')
    const close = async () => {
      await page.keyboard.press('Escape')
      await page
        .locator('[role=dialog], [role=alertdialog], [role=menu]')
        .first()
        .waitFor({ state: 'detached' })
    }

    await page.getByRole('button', { name: 'Try the demo' }).waitFor()
    await look('Welcome')
    const id = await rentRunning(sim)
    await connectAccount(page, sim)
    const row = page.getByRole('row').filter({ hasText: String(id) })
    await page.getByRole('link', { name: 'Instances' }).click()
    await row.first().waitFor()

    for (const screen of screens) {
      await page.getByRole('link', { name: screen }).click()
      await page.getByRole('heading', { name: screen, level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      await look(screen)
    }

    await page.keyboard.press('Control+k')
    await dialog.waitFor()
    await look('palette')
    await page.keyboard.type('h100')
    await page.getByRole('option').first().waitFor()
    await look('palette, typed')
    await close()
    await page.keyboard.press('?')
    await dialog.waitFor()
    await look('shortcuts')
    await close()

    await page.getByRole('link', { name: 'Offers' }).click()
    await page
      .getByRole('button', { name: /^Rent \d/ })
      .first()
      .click()
    await dialog.waitFor()
    await look('rent')
    await close()

    await page.getByRole('link', { name: 'Instances' }).click()
    await row.first().getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: /^Destroy/ }).click()
    await page.getByRole('dialog').or(page.getByRole('alertdialog')).waitFor()
    await look('destroy')
    expect(found).toEqual([])
  },
)
