import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { patience } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'

/** Counts the clicks of daily actions, from Instances with one running. Typing does not count. */

async function open(start: Start) {
  const sim = await start.simulator()
  await rentRunning(sim, { label: 'box' })
  const berth = await start.berth()
  const { page, errors } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Instances' }).click()
  const row = page.getByRole('row', { name: /box/ }).first()
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, errors, row, more: row.getByRole('button', { name: /^More/ }) }
}

/** Clicks on each in order, and on nothing else. */
async function clickOn(...steps: readonly Locator[]): Promise<void> {
  for (const step of steps) await step.click()
}

const entry = (page: Page, name: RegExp) => page.getByRole('menuitem', { name })

describe('on Instances, with one running', () => {
  test('destroying it takes two clicks, even in a small window', async ({ start }) => {
    const { page, errors, row } = await open(start)
    await page.setViewportSize({ width: 720, height: 480 })
    await clickOn(
      row.getByRole('button', { name: /^Destroy box/ }),
      page.getByRole('alertdialog').getByRole('button', { name: /^Destroy box/ }),
    )
    await row.waitFor({ state: 'detached', timeout: patience })
    expect(errors).toEqual([])
  })

  test('a limit against idling takes two clicks to set and two to remove', async ({ start }) => {
    const { page, errors, more } = await open(start)
    await clickOn(more, entry(page, /^When idle for 30 min, stop$/))
    await page.getByText(/^box #\d+ stops when idle for 30 min\.$/).waitFor()
    await clickOn(more, entry(page, /^Keep running when idle$/))
    await more.click()
    await entry(page, /^When idle for 30 min, stop$/).waitFor()
    expect(errors).toEqual([])
  })

  test('starting a run that stops it at the end takes three clicks, also after a cancel', async ({
    start,
  }) => {
    const { page, errors, more } = await open(start)
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
    expect(errors).toEqual([])
  })
})
