import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { connectAccount, rentRunning } from './account-steps.ts'
import { patience } from './app.ts'
import { test } from './fixtures.ts'
import type { Start } from './start.ts'

/** How many clicks what is done every day takes, from Instances with one running. Typing does not count. */

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

/** Clicks on one after the other, and on nothing else. */
async function clickOn(...steps: readonly Locator[]): Promise<void> {
  for (const step of steps) await step.click()
}

const entry = (page: Page, name: RegExp) => page.getByRole('menuitem', { name })

describe('from the instances, with one running', () => {
  test('to destroy it takes two clicks, in the smallest window too', async ({ start }) => {
    const { page, errors, row } = await open(start)
    await page.setViewportSize({ width: 720, height: 480 })
    await clickOn(
      row.getByRole('button', { name: /^Destroy box/ }),
      page.getByRole('alertdialog').getByRole('button', { name: /^Destroy box/ }),
    )
    await row.waitFor({ state: 'detached', timeout: patience })
    expect(errors).toEqual([])
  })

  test('to have it stopped when idle takes two clicks, and two take that back', async ({ start }) => {
    const { page, errors, more } = await open(start)
    await clickOn(more, entry(page, /^When idle for 30 min, stop$/))
    await page.getByText(/^box #\d+ stops when idle for 30 min\.$/).waitFor()
    await clickOn(more, entry(page, /^Keep running when idle$/))
    await more.click()
    await entry(page, /^When idle for 30 min, stop$/).waitFor()
    expect(errors).toEqual([])
  })

  test('to run a command and then stop it takes three clicks, as often as it is asked for', async ({
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
