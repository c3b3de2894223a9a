import { expect } from 'vitest'
import { test } from '../berth/pages.ts'

test('keys are changed by pressing others, unless these have another use', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address)
  await page.getByRole('link', { name: 'Settings' }).click()
  const keys = page.getByRole('button', { name: /^Keys for Offers/ })
  await keys.click()
  await page.keyboard.press('Control+k')
  await page.getByRole('alert').getByText('Ctrl K already belongs to “Every command”.').waitFor()
  // The palette, whose keys they are, has not opened.
  await keys.click()
  await page.keyboard.press('Alt+o')
  await page.getByRole('button', { name: 'Keys for Offers: Alt O' }).waitFor()

  await page.keyboard.press('Alt+o')
  await page.getByRole('heading', { name: 'Offers' }).waitFor()
  await page.keyboard.press('Control+2')
  await page.getByRole('heading', { name: 'Instances' }).waitFor()
  // Keys that page scroll a screen that has just been opened.
  await page.setViewportSize({ width: 1280, height: 500 })
  await page.keyboard.press('Control+1')
  const home = page.getByRole('region', { name: 'Home' })
  await home.getByText('Run a folder').waitFor()
  await page.keyboard.press('End')
  await expect.poll(() => home.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(50)
  await page.keyboard.press('Control+2')
  await page.getByRole('heading', { name: 'Instances' }).waitFor()
  await page.keyboard.press('Control+3')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Alt O').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Instances' }).waitFor()
})
