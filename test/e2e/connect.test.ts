import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openBrowser, openPage, scratchFolder, startBerth, startSimulatorProcess } from './app.ts'

let browser: Browser
const endings: (() => Promise<void>)[] = []

beforeAll(async () => {
  browser = await openBrowser()
})
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})
afterAll(() => browser.close())

/** The form of a Berth without an account, before the service as its best-known deployment is. */
async function openForm() {
  const sim = await startSimulatorProcess(['--deployment', 'public'])
  endings.push(sim.stop)
  const home = await scratchFolder()
  endings.push(home.remove)
  const berth = await startBerth(home.path)
  endings.push(berth.stop)
  const { page, errors } = await openPage(browser, berth.address)
  endings.push(() => page.context().close())
  await page.getByRole('button', { name: 'Connect your account' }).click()
  return { sim, page, errors, dialog: page.getByRole('dialog') }
}

test('the preset fills the base URL, which stays in sight and can be typed over', async () => {
  const { dialog, page, errors } = await openForm()
  const address = dialog.getByLabel(/url|address/i).first()
  expect(await address.inputValue()).toBe('https://console.vast.ai')
  await address.fill('https://gpus.example')
  expect(await dialog.getByLabel('Other', { exact: true }).isChecked()).toBe(true)
  await dialog.getByText('Vast.ai', { exact: true }).click()
  expect(await address.inputValue()).toBe('https://console.vast.ai')
  await dialog.getByText('Other', { exact: true }).click()
  expect(await address.inputValue()).toBe('https://gpus.example')
  await dialog.getByText('Permissions that Berth uses').click()
  await dialog.getByText('instance_write').waitFor()
  await page.keyboard.press('Escape')
  expect(errors).toEqual([])
})

test('a wrong key is named at its field, though the service says “not found”', async () => {
  const { sim, dialog } = await openForm()
  await dialog.getByLabel('Base URL').fill(sim.baseUrl)
  const key = dialog.getByLabel('API key')
  await key.fill('wrong-key')
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await dialog.getByText(/did not accept this API key: it is wrong/).waitFor()
  expect(await key.getAttribute('aria-invalid')).toBe('true')
  const { requests } = await sim.control<{ requests: { status: number }[] }>('GET', '/sim/requests')
  expect(requests.map(({ status }) => status)).toContain(404)
})
