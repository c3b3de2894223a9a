import { expect } from 'vitest'
import { askByName } from '../ask-by-name.ts'
import { test } from '../berth/pages.ts'
import { openConnected, rentWithJupyter } from './account-steps.ts'

test('Jupyter opens in its own tab; its tunnel is listed and can be closed', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo', '--speed', '100'] })
  const { page } = await start.page(berth.address)

  const row = await rentWithJupyter(page, 'RTX 4090')

  const opening = page.context().waitForEvent('page')
  await row.getByRole('button', { name: 'Jupyter' }).click()
  const jupyter = await opening
  await jupyter.getByText('A real instance shows its notebooks here.').waitFor()
  expect(await jupyter.evaluate(() => window.opener)).toBeNull()
  const { host, hostname, origin, port } = new URL(jupyter.url())
  expect(hostname).toMatch(/^i\d+-[0-9a-f]{16}\.localhost$/)
  expect(Number(port)).not.toBe(Number(new URL(berth.address).port))

  await row.getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Details' }).click()
  const forwarded = page.getByRole('table', { name: 'Forwarded ports' })
  await forwarded.getByText(host).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await forwarded.getByRole('button', { name: `Copy ${host}` }).click()
  await page.getByText('Address copied, with its token.').waitFor()
  const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()))
  expect(copied.origin).toBe(origin)
  expect(copied.searchParams.get('token')).toMatch(/./)
  await forwarded.getByRole('button', { name: 'Close the tunnel to Jupyter' }).click()
  await forwarded.waitFor({ state: 'detached' })
  await expect(askByName(origin)).rejects.toThrow()

  const field = page.getByLabel('Port in the instance')
  const isFocused = () => field.evaluate(element => element === document.activeElement)
  expect(await isFocused()).toBe(false)
  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: 'Ports' }).click()
  await expect.poll(isFocused).toBe(true)

  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Editor/ }).click()
  await page.getByRole('heading', { name: 'The demo has no editor' }).waitFor()
  await page.keyboard.press('Escape')
})

test('opening an editor asks about the SSH config first', async ({ start }) => {
  const { page } = await openConnected(start, { instances: [{ label: 'box' }] })

  // No editor is installed, and the SSH config is off.
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Editor/ }).click()
  await page
    .getByRole('alertdialog')
    .getByText(/~\/\.ssh\/config/)
    .waitFor()
  await page.keyboard.press('Escape')
})
