import { expect } from 'vitest'
import { test } from '../berth/pages.ts'

test('the chosen theme overrides the system’s theme', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address, { colorScheme: 'light' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('radio', { name: 'Dark' }).waitFor()
  const light = await background()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await background()
  expect(dark).not.toBe(light)
  await page.getByText('Light', { exact: true }).click()
  await expect.poll(background).toBe(light)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByText('Dark', { exact: true }).click()
  await expect.poll(background).toBe(dark)
})
