import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { readProfile } from '#simulator/deployment.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { openConnected } from './account-steps.ts'

/** Keys may be listed once a second, Berth's own requests included. */
const listing = { interval: 1500, timeout: 150_000 }
const patient = { timeout: 150_000 }

/** Berth on an account with two running instances, at real speed. */
async function twoInstances(start: Start) {
  const {
    sim,
    page,
    ids: [from, to],
  } = await openConnected(start, {
    simulator: { speed: 1 },
    instances: [{ label: 'source' }, { label: 'target' }],
  })
  await page.getByRole('row', { name: /source/ }).waitFor()
  return { sim, page, from, to }
}

async function choose(page: Page, label: string, option: RegExp): Promise<void> {
  await page.getByRole('dialog').getByLabel(label, { exact: true }).click()
  await page.getByRole('option', { name: option }).click()
}

test('a copy started from an instance shows its delayed progress until it is done', async ({ start }) => {
  const { sim, page, from, to } = await twoInstances(start)
  const row = page.getByRole('row', { name: /source/ })
  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: 'Copy data…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Path to copy', { exact: true }).fill('')
  await dialog.getByRole('button', { name: 'Start copy' }).click()
  await dialog.getByText('Enter the path to copy from.').waitFor()
  await dialog.getByLabel('Path to copy', { exact: true }).fill('/root/data')
  await dialog.getByLabel('Path to copy to', { exact: true }).fill('/root/copy')
  await dialog.getByRole('button', { name: 'Start copy' }).click()
  await dialog.waitFor({ state: 'detached' })

  await page.getByText('Progress is about 30 seconds behind.').waitFor()
  const copy = page.getByRole('row', { name: new RegExp(`#${from}:/root/data.*#${to}:/root/copy`) })
  await copy.getByText('Running', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Transfers' }).getByText('1').waitFor()
  await sim.control('POST', '/sim/clock', { advance: 50 })
  await expect
    .poll(async () => Number(await copy.getByRole('progressbar').getAttribute('aria-valuenow')), patient)
    .toBeGreaterThan(0)
  await sim.control('POST', '/sim/clock', { advance: 300 })
  await copy.getByText('Done', { exact: true }).waitFor(patient)
  await copy.getByRole('button', { name: /^Dismiss/ }).click()
  await page.getByText('No transfers').waitFor()
})

test('a cloud sync survives a reload and is cancelled, and its own API key is deleted', async ({ start }) => {
  const { sim, page, from } = await twoInstances(start)
  const keys = async () =>
    (await sim.api<{ apikeys: { name: string; rights: string }[] }>('GET', '/api/v0/auth/apikeys/')).apikeys
      .filter(({ name }) => name.startsWith('Berth sync'))
      .map(({ rights }) => rights)
  await page.getByRole('link', { name: 'Transfers' }).click()
  await page.getByRole('button', { name: 'Cloud sync…' }).click()
  const dialog = page.getByRole('dialog')
  await choose(page, 'Instance: Choose…', /source/)
  await dialog.getByText('Cloud to instance').click()
  const begin = dialog.getByRole('button', { name: 'Start sync' })
  await dialog.getByLabel('Cloud connection id').fill('12')
  expect(await begin.isDisabled()).toBe(true)
  await dialog.getByLabel('Path in the cloud').fill('bucket/data')
  expect(await begin.isEnabled()).toBe(true)
  await dialog.getByRole('button', { name: /^Open 127\.0\.0\.1/ }).waitFor()
  await dialog.getByLabel('Flags').fill('--checksum --exclude "a b"')
  await dialog.getByText('If you cancel a sync, you can only start it again.').waitFor()
  await sim.control('POST', '/sim/faults', {
    rules: [{ method: 'POST', path: '/rclone/', kind: 'status', status: 400, times: 1 }],
  })
  await dialog.getByRole('button', { name: 'Start sync' }).click()
  await dialog.getByText('The service refused the request.').waitFor()
  expect(await dialog.getByLabel('Path in the cloud').inputValue()).toBe('bucket/data')
  await expect.poll(keys, listing).toEqual([])
  await dialog.getByRole('button', { name: 'Start sync' }).click()
  await dialog.waitFor({ state: 'detached' })

  const sync = page.getByRole('row', { name: new RegExp(`cloud:bucket/data.*#${from}:/workspace/`) })
  await sync.getByText(/^Its API key #\d+ is deleted when it ends/).waitFor()
  await expect.poll(keys, listing).toEqual(['instance_write'])
  await page.reload()
  await sync.getByRole('button', { name: /^Cancel/ }).focus()
  await page.keyboard.press('Enter')
  const question = page.getByRole('alertdialog')
  await question.getByText('You can’t resume a cancelled sync').waitFor()
  const focused = () => question.locator(':focus').textContent()
  await expect.poll(focused).toBe('Cancel')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await sync.getByText('Cancelled', { exact: true }).waitFor()
  await sync.getByText(/^Its API key #\d+ is deleted\.$/).waitFor()
  await expect.poll(keys, listing).toEqual([])
})

test('the paths of a copy are chosen among the instances’ files', async ({ start }) => {
  const { page } = await twoInstances(start)
  await page.getByRole('link', { name: 'Transfers' }).click()
  await page.getByRole('button', { name: 'Copy data…' }).click()
  const dialog = page.getByRole('dialog')
  const begin = dialog.getByRole('button', { name: 'Start copy' })
  const browse = dialog.getByRole('button', { name: 'Browse: Path to copy', exact: true })
  expect(await begin.isDisabled()).toBe(true)
  expect(await browse.isDisabled()).toBe(true)
  await choose(page, 'From: Choose…', /source/)
  await choose(page, 'To: Choose…', /target/)
  expect(await begin.isEnabled()).toBe(true)
  await browse.click()
  const list = dialog.getByRole('region', { name: 'Files of Path to copy' })
  await list.getByText('/workspace', { exact: true }).waitFor()
  await list.getByRole('button', { name: 'Parent folder' }).click()
  await list.getByRole('button', { name: 'root' }).click()
  await expect.poll(() => dialog.getByLabel('Path to copy', { exact: true }).inputValue()).toBe('/root/')
  // Escape closes the list alone, and gives the focus back.
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  expect(await browse.evaluate(button => button === document.activeElement)).toBe(true)
  expect(await dialog.count()).toBe(1)
})

test('an address of a cloud that is pasted fills in the path and its connection', async ({ start }) => {
  const { page } = await openConnected(start, { simulator: { deployment: readProfile('public') } })
  await page.getByRole('link', { name: 'Transfers' }).click()
  await page.getByRole('button', { name: 'Cloud sync…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Cloud connection: Choose…').waitFor()
  await dialog.getByLabel('Path in the cloud').fill('s3://bucket/data')
  await dialog.getByLabel('Cloud connection: S3_1 · s3').waitFor()
  expect(await dialog.getByLabel('Path in the cloud').inputValue()).toBe('bucket/data')
  await dialog.getByLabel('Path in the cloud').fill('drive.102://models')
  await dialog.getByLabel('Cloud connection: Drive_1 · drive').waitFor()
  expect(await dialog.getByLabel('Path in the cloud').inputValue()).toBe('models')
})
