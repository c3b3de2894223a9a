import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openBrowser, openPage, scratchFolder, startBerth } from './app.ts'

let browser: Browser
const endings: (() => Promise<void>)[] = []

beforeAll(async () => {
  browser = await openBrowser()
})
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})
afterAll(() => browser.close())

test('Jupyter in one click: it opens in a tab of its own, is listed under the ports, and is closed there', async () => {
  const home = await scratchFolder()
  endings.push(home.remove)
  const berth = await startBerth(home.path, ['--demo'])
  endings.push(berth.stop)
  const { page, errors } = await openPage(browser, berth.address)
  endings.push(() => page.context().close())

  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByPlaceholder(/Find GPU/)
    .or(page.getByRole('searchbox'))
    .fill('RTX 4090')
  await page
    .getByRole('button', { name: /^Rent 1 × RTX 4090/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByText('Jupyter', { exact: true }).click()
  await dialog.getByRole('button', { name: /^Rent/ }).click()
  const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /RTX 4090/ })
  await row.getByText('Running', { exact: true }).waitFor({ timeout: 60_000 })

  const opening = page.context().waitForEvent('page')
  await row.getByRole('button', { name: 'Jupyter' }).click()
  const jupyter = await opening
  await jupyter.getByText('A real instance shows its notebooks here.').waitFor()
  expect(await jupyter.evaluate(() => window.opener)).toBeNull()
  const { port, origin } = new URL(jupyter.url())
  expect(Number(port)).not.toBe(Number(new URL(berth.address).port))

  await row.getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Ports' }).click()
  const forwarded = page.getByRole('table', { name: 'Forwarded ports' })
  await forwarded.getByText(`127.0.0.1:${port}`).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await forwarded.getByRole('button', { name: `Copy 127.0.0.1:${port}` }).click()
  await page.getByText('Address copied, with its token.').waitFor()
  const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()))
  expect(copied.origin).toBe(origin)
  expect(copied.searchParams.get('token')).toMatch(/./)
  await forwarded.getByRole('button', { name: 'Close the tunnel to Jupyter' }).click()
  await forwarded.waitFor({ state: 'detached' })
  await expect(fetch(origin)).rejects.toThrow()

  // No editor is here, and the SSH config is off: both are told before anything is changed.
  await row.getByRole('button', { name: 'Editor' }).click()
  await page
    .getByRole('alertdialog')
    .getByText(/~\/\.ssh\/config/)
    .waitFor()
  await page.keyboard.press('Escape')
  expect(errors).toEqual([])
})
