import { expect } from 'vitest'
import { test } from '../berth/pages.ts'
import { receiver } from '../berth/relays.ts'

test('an address for alerts is added, tested, changed and removed, and a webhook’s secret is shown once', async ({
  start,
}) => {
  const stub = await receiver()
  start.atEnd(stub.close)
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Add an address for alerts…' }).click()
  const adding = page.getByRole('dialog', { name: 'Send alerts elsewhere' })
  // A letter chooses in the closed list, as in the system's own.
  await adding.getByRole('combobox', { name: /^Kind/ }).press('w')
  await adding.getByRole('combobox', { name: 'Kind: Webhook' }).waitFor()
  await adding.getByLabel('Name').fill('Phone')
  await adding.getByLabel('Address').fill('https://10.0.0.7/hook')
  await adding.getByRole('button', { name: 'Add' }).click()
  await adding.getByText('Alerts can’t be sent to this address.').waitFor()
  await adding.getByLabel('Address').fill(`${stub.url}/hook`)
  await adding.getByRole('button', { name: 'Add' }).click()
  const told = page.getByRole('dialog', { name: 'The webhook’s secret' })
  await told.getByText('whsec_').waitFor()
  await told.getByRole('button', { name: 'Done' }).click()

  await page.getByRole('button', { name: 'Send a test to Phone' }).click()
  await page.getByText('A test was sent to Phone.').waitFor()
  expect(stub.got.map(({ path }) => path)).toEqual(['/hook'])

  await page.getByRole('button', { name: 'Change Phone…' }).click()
  const changing = page.getByRole('dialog', { name: 'Phone' })
  await changing.getByLabel('Quiet hours').check()
  await changing.getByLabel('Watches').uncheck()
  await changing.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Quiet from 22:00 to 07:00.').waitFor()
  await page.getByRole('button', { name: 'Remove Phone' }).click()
  await page.getByText('Alerts stay on this computer.').waitFor()
})
