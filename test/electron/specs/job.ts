import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'

/** Filters the offers for one GPU, since only visible rows are drawn and most have several. */
export async function showSingleGpus(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Count:/ }).click()
  const most = page.getByRole('textbox', { name: 'To' })
  await most.fill('1')
  await most.press('Enter')
  await most.waitFor({ state: 'detached' })
}

/** Rents an offer of one GPU on a stable host, runs nvidia-smi in its terminal, and destroys the instance. */
export async function doTheJob(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Offers' }).click()
  await showSingleGpus(page)
  // The first two are on a host that will go offline.
  await page
    .getByRole('button', { name: /^Rent 1 ×/ })
    .nth(2)
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByRole('button', { name: /^Rent/ }).click()

  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: /^More/ }) })
  await row.getByText('Running', { exact: true }).waitFor({ timeout: 150_000 })
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.keyboard.type('nvidia-smi\n')
  // A small window shows only the end of it, and the next prompt.
  await expect.poll(() => terminalText(page)).toMatch(/MiB[\s\S]*Processes[\s\S]*root@/)

  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Destroy/ }).click()
  await page
    .getByRole('alertdialog')
    .or(page.getByRole('dialog'))
    .getByRole('button', { name: /^Destroy/ })
    .click()
  await row.waitFor({ state: 'detached', timeout: 150_000 })
}
