import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { connectAccount, rentRunning } from './account-steps.ts'
import type { Service } from './app.ts'
import { test } from './fixtures.ts'
import type { Start } from './start.ts'

async function open(start: Start) {
  const sim = await start.simulator()
  await rentRunning(sim, { label: 'box' })
  const berth = await start.berth()
  const { page, errors } = await start.page('about:blank')
  await page.clock.install()
  await page.goto(berth.address)
  await connectAccount(page, sim)
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, errors, sim, row, name: row.locator('[data-row]') }
}

/** Does it while the page's time stands still: what is sent after five seconds is not sent by a slow machine. */
async function inNoTime(page: Page, work: () => Promise<void>): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  await work()
  await page.clock.resume()
}

async function told(sim: Service): Promise<number> {
  const { requests } = (await sim.control('GET', '/sim/requests')) as {
    requests: { method: string; path: string }[]
  }
  return requests.filter(({ method, path }) => method === 'PUT' && /instances\/\d+\/$/.test(path)).length
}

describe('stopping', () => {
  test('by its key is said first, and undone by a key or a button without being sent', async ({ start }) => {
    const { page, errors, sim, row, name } = await open(start)
    const status = page.getByRole('status')
    await inNoTime(page, async () => {
      await name.press('s')
      await status.getByText('Stopping box').waitFor()
      await name.press('Control+z')
      await status.getByText(/^box.* was not stopped\.$/).waitFor()
    })

    await row.getByRole('button', { name: /^More/ }).click()
    const stop = page.getByRole('menuitem', { name: /^Stop/ })
    await stop.waitFor()
    await inNoTime(page, async () => {
      await stop.click()
      const undo = page.getByRole('button', { name: /^Undo: Stopping box/ })
      await undo.press('Enter')
      await undo.waitFor({ state: 'detached' })
    })
    expect(await told(sim)).toBe(0)

    await name.press('s')
    await status.getByText('Stopping box').waitFor()
    await page.clock.runFor(6000)
    await row.getByText('Stopped', { exact: true }).waitFor()
    expect(await told(sim)).toBe(1)
    expect(errors).toEqual([])
  })

  test('is sent at once where the page is left meanwhile', async ({ start }) => {
    const { page, sim, name } = await open(start)
    await inNoTime(page, async () => {
      await name.press('s')
      await page.getByRole('button', { name: /^Undo: Stopping box/ }).waitFor()
      await page.reload()
    })
    await expect.poll(() => told(sim)).toBe(1)
  })
})
