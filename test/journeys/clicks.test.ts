import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { patience, terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, openConnected, rentRunning } from '#test/e2e/account-steps.ts'
import { countClicks } from '#test/e2e/click-count.ts'

/** Counts the clicks of daily actions, from Instances with one running. Typing does not count. */

async function open(start: Start) {
  const { page } = await openConnected(start, {
    page: { viewport: { width: 1280, height: 800 } },
    instances: [{ label: 'box' }],
  })
  await page.getByRole('link', { name: 'Instances' }).click()
  const row = page.getByRole('row', { name: /box/ }).first()
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, row, more: row.getByRole('button', { name: /^More/ }) }
}

/** Clicks on each in order; the page must have been clicked on that often, and on nothing else. */
async function clickOn(first: Locator, ...others: readonly Locator[]): Promise<void> {
  const clicks = await countClicks(first.page())
  for (const step of [first, ...others]) await step.click()
  expect(await clicks()).toBe(1 + others.length)
}

const entry = (page: Page, name: RegExp) => page.getByRole('menuitem', { name })

describe('on Instances, with one running', () => {
  test('destroying it takes two clicks, even in a small window', async ({ start }) => {
    const { page, row } = await open(start)
    await page.setViewportSize({ width: 720, height: 480 })
    await clickOn(
      row.getByRole('button', { name: /^Destroy box/ }),
      page.getByRole('alertdialog').getByRole('button', { name: /^Destroy box/ }),
    )
    await row.waitFor({ state: 'detached', timeout: patience })
  })

  test('a limit against idling takes two clicks to set and two to remove', async ({ start }) => {
    const { page, more } = await open(start)
    await clickOn(more, entry(page, /^When idle for 30 min, stop$/))
    await page.getByText(/^box #\d+ stops when idle for 30 min\.$/).waitFor()
    await clickOn(more, entry(page, /^Keep running when idle$/))
    await more.click()
    await entry(page, /^When idle for 30 min, stop$/).waitFor()
  })

  test('starting a run that stops it at the end takes three clicks, also after a cancel', async ({
    start,
  }) => {
    const { page, more } = await open(start)
    const form = page.getByRole('form', { name: /^Run a command on box/ })
    const command = form.getByLabel('Command')
    const isTypedInto = () => command.evaluate(field => field === document.activeElement)
    await clickOn(more, entry(page, /^Run, then stop…$/))
    await expect.poll(isTypedInto).toBe(true)
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'detached' })

    await clickOn(more, entry(page, /^Run, then stop…$/))
    await expect.poll(isTypedInto).toBe(true)
    await page.keyboard.type('nvidia-smi')
    await form.getByText(/When it ends, the instance is stopped/).waitFor()
    await clickOn(form.getByRole('button', { name: 'Run it' }))
    await form.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Run nvidia-smi' }).waitFor()
  })
})

test('a terminal, Jupyter, a bid, an upload, the spending and a stop take one click each, a rental by need five', async ({
  start,
}) => {
  const sim = await start.simulator()
  await rentRunning(sim, { label: 'box', runtype: 'jupyter' })
  // Less than on-demand costs, which would be offered first.
  const night = await rentRunning(sim, { label: 'night', price: 0.03 })
  await sim.control('POST', '/sim/outbid', { instance_id: night })
  const berth = await start.berth()
  const { page } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, sim)
  const go = (screen: string) => page.getByRole('link', { name: screen, exact: true }).click()
  await go('Instances')
  const row = (label: string) => page.getByRole('row', { name: new RegExp(label) }).first()
  await row('box').getByText('Running', { exact: true }).waitFor()

  await clickOn(page.getByRole('button', { name: /^Bid \$/ }))
  await expect
    .poll(
      () =>
        row('night')
          .getByText(/^(Scheduling|Starting|Running)/)
          .count(),
      { timeout: patience },
    )
    .toBe(1)

  const opening = page.context().waitForEvent('page')
  await clickOn(row('box').getByRole('button', { name: 'Jupyter' }))
  const jupyter = await opening
  await jupyter.getByText('A real instance shows its notebooks here.').waitFor()
  await page.bringToFront()

  await clickOn(row('box').getByRole('button', { name: 'Terminal' }))
  await expect.poll(() => terminalText(page), { timeout: patience }).toContain('root@')

  await page.getByRole('tab', { name: 'Files' }).click()
  const upload = page.getByRole('button', { name: 'Upload files…' })
  await expect.poll(() => upload.isEnabled()).toBe(true)
  const choosing = page.waitForEvent('filechooser')
  await clickOn(upload)
  await (await choosing).setFiles(`${berth.home}/settings.json`)
  await page.getByLabel('Select settings.json').waitFor()

  await clickOn(page.getByRole('banner').getByRole('button', { name: /^Spending \$/ }))
  await page.getByRole('columnheader', { name: 'Today' }).waitFor()

  const clicks = await countClicks(page)
  await go('Offers')
  await page.getByLabel('Find in offers').click()
  await page.keyboard.type('europe 16 gb+ $2 0.2 gb/s')
  const rent = page.getByRole('button', { name: /^Rent 1 × / }).first()
  await rent.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Custom…' }).click()
  // The hours have the focus, and their text is selected.
  await page.keyboard.type('3')
  await page.keyboard.press('Enter')
  await dialog.getByText(/^until its 3 h limit/).waitFor()
  await dialog.getByRole('button', { name: /^Rent for \$/ }).click()
  expect(await clicks()).toBe(5)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => page.locator('[data-row]').count(), { timeout: patience }).toBe(3)

  await clickOn(row('box').getByRole('button', { name: /^Stop box/ }))
  await row('box').getByText('Stopped', { exact: true }).waitFor({ timeout: patience })
})
