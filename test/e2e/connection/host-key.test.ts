import { expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'

test('Files and Terminal ask before a host key of another account’s instance is accepted', async ({
  start,
}) => {
  // The same seed gives the same ids and host keys, like an image with a built-in key.
  const [home, work] = [await start.simulator(), await start.simulator()]
  const first = await rentRunning(home, { label: 'train' })
  const second = await rentRunning(work, { label: 'render' })
  const berth = await start.berth()
  const { page, errors } = await start.page(berth.address)
  const openTerminal = (label: string) =>
    page
      .getByRole('row', { name: new RegExp(label) })
      .getByRole('button', { name: 'Terminal' })
      .click()
  await connectAccount(page, home, 'Home')
  await openTerminal('train')
  await expect.poll(() => terminalText(page)).toContain('root@')

  await page.getByRole('link', { name: 'Settings' }).click()
  await page
    .getByRole('button', { name: /^(Add|Connect).*account/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Base URL').fill(work.baseUrl)
  await dialog.getByLabel('API key').fill(work.apiKey)
  await dialog.getByLabel('Name (optional)').fill('Work')
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Instances' }).click()
  await page
    .getByRole('row', { name: /render/ })
    .getByRole('link')
    .click()
  await page.getByRole('tab', { name: 'Files' }).click()
  const question = page.getByRole('alert').filter({ hasText: 'host key' })
  await expect
    .poll(() => question.textContent())
    .toContain(`render #${second} of Work has the same host key as train #${first} of Home`)
  await openTerminal('render')
  await question.waitFor()
  await question.getByRole('button', { name: 'Accept this key' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  expect(errors).toEqual([])
})
