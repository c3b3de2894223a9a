import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { lacks } from '../needs.ts'
import { connectAccount, rentRunning } from './account-steps.ts'
import {
  openBrowser,
  openPage,
  type SimulatorProcess,
  scratchFolder,
  startBerth,
  startSimulatorProcess,
} from './app.ts'

let browser: Browser
const endings: (() => unknown)[] = []
const lacking = lacks('chromium')

async function open() {
  const home = await scratchFolder()
  const sim = await startSimulatorProcess()
  await rentRunning(sim, { label: 'box' })
  const berth = await startBerth(home.path)
  const { page, errors } = await openPage(browser, berth.address)
  endings.push(home.remove, sim.stop, berth.stop, () => page.context().close())
  await connectAccount(page, sim)
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, errors, sim, row, name: row.locator('[data-row]') }
}

async function told(sim: SimulatorProcess): Promise<number> {
  const { requests } = (await sim.control('GET', '/sim/requests')) as {
    requests: { method: string; path: string }[]
  }
  return requests.filter(({ method, path }) => method === 'PUT' && /instances\/\d+\/$/.test(path)).length
}

describe.skipIf(lacking !== '')(`stopping${lacking}`, () => {
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
  })
  afterAll(() => browser?.close())

  test('by its key is said first, and undone by a key or a button without being sent', async () => {
    const { page, errors, sim, row, name } = await open()
    const status = page.getByRole('status')
    await name.press('s')
    await status.getByText('Stopping box').waitFor()
    await name.press('Control+z')
    await status.getByText(/^box.* was not stopped\.$/).waitFor()

    await row.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: /^Stop/ }).click()
    const undo = page.getByRole('button', { name: /^Undo: Stopping box/ })
    await undo.press('Enter')
    await undo.waitFor({ state: 'detached' })
    expect(await told(sim)).toBe(0)

    await name.press('s')
    await row.getByText('Stopped', { exact: true }).waitFor()
    expect(await told(sim)).toBe(1)
    expect(errors).toEqual([])
  })

  test('is sent at once where the page is left meanwhile', async () => {
    const { page, sim, name } = await open()
    await name.press('s')
    await page.getByRole('button', { name: /^Undo: Stopping box/ }).waitFor()
    await page.reload()
    await expect.poll(() => told(sim)).toBe(1)
  })
})
