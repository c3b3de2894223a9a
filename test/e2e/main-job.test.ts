import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  openBrowser,
  openPage,
  scratchFolder,
  startBerth,
  startSimulatorProcess,
  terminalText,
} from './app.ts'

let browser: Browser
const endings: (() => Promise<void>)[] = []

beforeAll(async () => {
  browser = await openBrowser()
})
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})
afterAll(() => browser.close())

async function freshBerth(flags: readonly string[] = []) {
  const home = await scratchFolder()
  endings.push(home.remove)
  const berth = await startBerth(home.path, flags)
  endings.push(berth.stop)
  const opened = await openPage(browser, berth.address)
  endings.push(() => opened.page.context().close())
  return opened
}

/** Rents the first offer of a GPU, waits for the shell, asks it for its GPUs, and destroys the instance. */
async function doTheJob(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('searchbox')
    .or(page.getByPlaceholder(/Find GPU/))
    .fill('RTX 4090')
  const rent = page.getByRole('button', { name: /^Rent 1 × RTX 4090/ }).first()
  await rent.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByRole('button', { name: /^Rent/ }).click()

  const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /RTX 4090/ })
  await row.getByText('Running', { exact: true }).waitFor({ timeout: 60_000 })
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page), { timeout: 60_000 }).toContain('root@')
  await page.keyboard.type('nvidia-smi\n')
  await expect.poll(() => terminalText(page), { timeout: 60_000 }).toMatch(/NVIDIA RTX 4090[\s\S]*Processes/)

  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Destroy/ }).click()
  await page
    .getByRole('alertdialog')
    .or(page.getByRole('dialog'))
    .getByRole('button', { name: /^Destroy/ })
    .click()
  await row.waitFor({ state: 'detached', timeout: 60_000 })
}

test('from an empty home: the demo opens, and a GPU is found, rented, entered and destroyed', async () => {
  const { page, errors } = await freshBerth(['--demo'])
  await page.getByText('This is the demo market. Nothing here costs money.').waitFor()
  await doTheJob(page)
  expect(errors).toEqual([])
})

test.each(['interface', 'public'])(
  'the same with an account (%s): one create, and no instance in the end',
  async deployment => {
    const sim = await startSimulatorProcess(['--deployment', deployment])
    endings.push(sim.stop)
    const { page, errors } = await freshBerth()
    await page.getByRole('button', { name: 'Connect your account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Base URL').fill(sim.baseUrl)
    await dialog.getByLabel('API key').fill(sim.apiKey)
    await dialog.getByRole('button', { name: /^Connect/ }).click()
    await dialog.waitFor({ state: 'detached' })
    await doTheJob(page)

    const { requests } = await sim.control<{ requests: { method: string; path: string }[] }>(
      'GET',
      '/sim/requests',
    )
    expect(
      requests.filter(({ method, path }) => method === 'PUT' && path.startsWith('/api/v0/asks/')),
    ).toHaveLength(1)
    const list = deployment === 'interface' ? '/api/v0/instances/' : '/api/v1/instances/'
    // Asked too soon after Berth, it refuses.
    await expect
      .poll(() => sim.api('GET', list).catch(() => undefined), { interval: 1500 })
      .toMatchObject({ instances: [] })
    expect(errors).toEqual([])
  },
)

test('a wrong key is told at the form, and what was typed stays', async () => {
  const sim = await startSimulatorProcess()
  endings.push(sim.stop)
  const { page } = await freshBerth()
  await page.getByRole('button', { name: 'Connect your account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Base URL').fill(sim.baseUrl)
  await dialog.getByLabel('API key').fill('wrong-key')
  await page.keyboard.press('Enter')
  await dialog
    .getByText(/key/i)
    .filter({ hasText: /not accepted|refused|wrong|revoked/i })
    .first()
    .waitFor()
  expect(await dialog.getByLabel('Base URL').inputValue()).toBe(sim.baseUrl)
})
