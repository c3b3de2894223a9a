import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { scratchFolder } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import { connectAccount } from './account-steps.ts'

test('settings go to another Berth by a file, after a question that says what changes', async ({ start }) => {
  const sim = await start.simulator()
  const { page: first } = await start.page((await start.berth()).address, { acceptDownloads: true })
  await connectAccount(first, sim)
  await first.evaluate(() => location.assign('#/settings'))
  await first.getByRole('radiogroup', { name: 'Theme' }).getByText('Dark').click()
  const scheme = () => first.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
  await expect.poll(scheme).toBe('dark')
  const [download] = await Promise.all([
    first.waitForEvent('download'),
    first.getByRole('button', { name: 'Export…' }).click(),
  ])
  const folder = await scratchFolder()
  start.atEnd(folder.remove)
  const file = join(folder.path, 'berth-export.json')
  const text = await readFile(await download.path(), 'utf8')
  expect(text).not.toContain(sim.apiKey)
  await writeFile(file, text)

  const { page } = await start.page((await start.berth()).address)
  await page.getByRole('button', { name: /demo/ }).first().waitFor()
  await page.evaluate(() => location.assign('#/settings'))
  await page.getByLabel('Exported file').setInputFiles(file)
  const question = page.getByRole('alertdialog', { name: 'Import from another Berth?' })
  const address = question.getByText(sim.baseUrl, { exact: true })
  await address.waitFor()
  expect(await address.evaluate(({ tagName }) => tagName)).toBe('BDI')
  await question.getByRole('button', { name: 'Import' }).click()
  await page.getByText('Imported.', { exact: true }).waitFor()
  await expect.poll(() => page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Enter key' }).first().click()
  await page
    .getByRole('dialog', { name: 'Enter key' })
    .locator('bdi')
    .getByText(sim.baseUrl, { exact: true })
    .waitFor()
})
