import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { readProfile } from '#simulator/deployment.ts'
import { patience, terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectForm } from '#test/e2e/account-steps.ts'

/** The form of a Berth without an account; the simulator acts as the public deployment. */
async function openForm(start: Start) {
  const sim = await start.simulator({ deployment: readProfile('public') })
  const berth = await start.berth()
  const { page } = await start.page(berth.address)
  return { sim, page, dialog: await connectForm(page) }
}

test('the preset fills the base URL, which stays visible and editable', async ({ start }) => {
  const { dialog, page } = await openForm(start)
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
})

test('a wrong API key is reported at its field, although the service answers 404', async ({ start }) => {
  const { sim, dialog } = await openForm(start)
  await dialog.getByLabel('Base URL').fill(sim.baseUrl)
  const key = dialog.getByLabel('API key')
  await key.fill('wrong-key')
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await dialog.getByText(/rejected this API key: it’s wrong/).waitFor()
  expect(await key.getAttribute('aria-invalid')).toBe('true')
  const { requests } = await sim.control<{ requests: { status: number }[] }>('GET', '/sim/requests')
  expect(requests.map(({ status }) => status)).toContain(404)
})

test('a user connects, sees the price of traffic, rents, enters directly and destroys', async ({ start }) => {
  const { sim, page, dialog: form } = await openForm(start)
  const requests = async (method: string, path: RegExp) => {
    const log = await sim.control<{ requests: { method: string; path: string }[] }>('GET', '/sim/requests')
    return log.requests.filter(each => each.method === method && path.test(each.path)).length
  }
  await form.getByLabel('Base URL').fill(sim.baseUrl)
  await form.getByLabel('API key').fill('wrong-key')
  await form.getByRole('button', { name: /^Connect/ }).click()
  await form.getByText(/rejected this API key: it’s wrong/).waitFor()
  await form.getByLabel('API key').fill(sim.apiKey)
  await form.getByRole('button', { name: /^Connect/ }).click()
  await form.waitFor({ state: 'detached' })

  const dialog = page.getByRole('dialog')
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByRole('searchbox', { name: 'Find in offers' }).fill('RTX 4090')
  await page
    .getByRole('button', { name: /^Rent 1 × RTX 4090/ })
    .first()
    .click()
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  const direct = dialog.getByLabel('SSH directly to the machine, proxy as fallback')
  expect(await direct.isChecked()).toBe(true)
  await dialog.getByText(/\$\d\S*\/GB down, \$\d\S*\/GB up/).waitFor()
  // Without an estimate the usual traffic is counted once, also in what it costs until its limit.
  const traffic = dialog
    .locator('dt')
    .filter({ hasText: /^Traffic once$/ })
    .locator('+ dd')
  const most = dialog.getByText('At most', { exact: true }).locator('+ p')
  const dollars = async (figure: Locator) => Number((await figure.textContent())?.replace('$', ''))
  const before = { traffic: await dollars(traffic), most: await dollars(most) }
  expect(before.traffic).toBeGreaterThan(0)
  const expected = dialog.getByLabel('Traffic you expect (GB)')
  // The placeholder is what was expected without a figure.
  await expected.fill(String(5 * Number(await expected.getAttribute('placeholder'))))
  await expect.poll(() => dollars(traffic)).toBeGreaterThan(before.traffic)
  const more = (await dollars(traffic)) - before.traffic
  expect((await dollars(most)) - before.most).toBeCloseTo(more, 1)
  expect(await requests('PUT', /^\/api\/v0\/asks\//)).toBe(0)
  await dialog.getByRole('button', { name: /^Rent for \$\S+\/h$/ }).click()

  const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /RTX 4090/ })
  await row.getByText('Running', { exact: true }).waitFor()
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page), { timeout: patience }).toContain('root@')
  await page.getByText(/root@127\.0\.0\.1:\d+, direct/).waitFor()

  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Destroy/ }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText(/Everything on it is lost/).waitFor()
  expect(await requests('DELETE', /^\/api\/v0\/instances\//)).toBe(0)
  await question.getByRole('button', { name: /^Destroy/ }).click()
  await row.waitFor({ state: 'detached' })
  expect(await requests('PUT', /^\/api\/v0\/asks\//)).toBe(1)
  expect(await requests('DELETE', /^\/api\/v0\/instances\//)).toBe(1)
})
