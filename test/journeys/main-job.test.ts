import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount } from '#test/e2e/account-steps.ts'

/** Rents the first RTX 4090, runs nvidia-smi in its terminal, and destroys the instance. */
async function doTheJob(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByRole('searchbox', { name: 'Find in offers' }).fill('RTX 4090')
  const rent = page.getByRole('button', { name: /^Rent 1 × RTX 4090/ }).first()
  await rent.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByRole('button', { name: /^Rent/ }).click()

  const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /RTX 4090/ })
  await row.getByText('Running', { exact: true }).waitFor({ timeout: 150_000 })
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.keyboard.type('nvidia-smi\n')
  await expect.poll(() => terminalText(page)).toMatch(/NVIDIA RTX 4090[\s\S]*Processes/)

  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Destroy/ }).click()
  await page
    .getByRole('alertdialog')
    .or(page.getByRole('dialog'))
    .getByRole('button', { name: /^Destroy/ })
    .click()
  await row.waitFor({ state: 'detached', timeout: 150_000 })
}

test('a GPU is rented, used in a terminal and destroyed: one create is sent, and no instance left', async ({
  start,
}) => {
  const sim = await start.simulator({ deployment: publicProfile })
  const { page } = await start.page((await start.berth()).address)
  await connectAccount(page, sim)
  await doTheJob(page)

  const { requests } = await sim.control<{ requests: { method: string; path: string }[] }>(
    'GET',
    '/sim/requests',
  )
  expect(
    requests.filter(({ method, path }) => method === 'PUT' && path.startsWith('/api/v0/asks/')),
  ).toHaveLength(1)
  // A list too soon after Berth's is refused.
  await expect
    .poll(() => sim.api('GET', '/api/v1/instances/').catch(() => undefined), { interval: 1500 })
    .toMatchObject({ instances: [] })
})
