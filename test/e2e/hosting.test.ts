import { expect } from 'vitest'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { openConnected } from './account-steps.ts'

async function hosting(start: Start, faults: readonly unknown[] = []) {
  const { sim, page } = await openConnected(start)
  await sim.control('POST', '/sim/faults', { rules: faults })
  await page.getByRole('link', { name: 'Hosting' }).click()
  return { sim, page }
}

test('maintenance, clean-up, network disks and workergroups are managed on the page', async ({ start }) => {
  const { page } = await hosting(start)
  await page.getByRole('button', { name: /^Cancel maintenance of rack-a1/ }).click()
  await page.getByText('Maintenance cancelled.').waitFor()
  // Then, as where none was scheduled, there is nothing to cancel.
  await expect.poll(() => page.getByRole('button', { name: /^Cancel maintenance of/ }).count()).toBe(1)
  await page.getByRole('button', { name: /^Clean up rack-a1/ }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Clean up' }).click()
  await page.getByText(/^\d expired contracts removed\.$/).waitFor()

  await page.getByRole('button', { name: 'Add network disk…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Mount point').fill('')
  await dialog.getByRole('button', { name: 'Add disk' }).click()
  await dialog.getByText('Enter the mount point.').waitFor()
  await dialog.getByText('Enter at least one machine.').waitFor()
  await dialog.getByLabel('Mount point').fill('/mnt/shared')
  await dialog.getByLabel(/rack-a1/).check()
  await dialog.getByRole('button', { name: 'Add disk' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Add machines to disk/ }).click()
  await dialog.getByLabel(/attic/).check()
  await dialog.getByRole('button', { name: 'Add machines' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/^on #\d+, #\d+$/).waitFor()

  await page.getByRole('button', { name: 'Create workergroup…' }).click()
  await dialog.getByLabel('Endpoint name').fill('chat')
  await dialog.getByLabel('Launch arguments').fill('--shm-size 8g')
  await dialog.getByLabel('Lowest load').fill('-1')
  await dialog.getByRole('button', { name: 'Create workergroup' }).click()
  await dialog.getByText('A load is not below 0.').waitFor()
  await dialog.getByLabel('Lowest load').fill('2')
  await dialog.getByLabel('Target utilisation').fill('0.8')
  await dialog.getByRole('button', { name: 'Create workergroup' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/launched with --shm-size 8g · load at least 2 · utilisation 0\.8/).waitFor()
})

test('where the service lists nothing, ids are typed and unknown ones are reported', async ({ start }) => {
  const missing = ['/machines', '/network_disk/', '/workergroups/'].map(path => ({
    method: 'GET',
    path,
    kind: 'status',
    status: 404,
    times: 99,
  }))
  const { page } = await hosting(start, missing)
  await page.getByText('This service doesn’t list your machines.').waitFor()
  await page.getByText('This service doesn’t list your network disks.').waitFor()
  await page.getByText('This service doesn’t list your workergroups.').waitFor()
  await page.getByLabel('Machine id').fill('7')
  await page.getByLabel('Machine id').press('Enter')
  await page.getByRole('button', { name: 'Cancel maintenance of machine #7' }).click()
  await page.getByText('No machine on this account has the id 7.').waitFor()

  await page.getByRole('button', { name: 'Add network disk…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Existing disk').click()
  await dialog.getByLabel('Disk id').fill('5')
  await dialog.getByLabel('Mount point').fill('/mnt/a')
  await dialog.getByLabel('Machine ids').fill('7')
  await dialog.getByRole('button', { name: 'Add machines' }).click()
  await dialog.getByText('There is no machine 7.').waitFor()
  expect(await dialog.getByLabel('Disk id').inputValue()).toBe('5')
})
