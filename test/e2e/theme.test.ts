import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, openPage, scratchFolder, startBerth } from './app.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the theme that is chosen holds, whatever the system has', async () => {
  const home = await scratchFolder()
  const berth = await startBerth(home.path, ['--demo'])
  try {
    const { page } = await openPage(browser, berth.address, { colorScheme: 'light' })
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await page.getByRole('link', { name: 'Settings' }).click()
    const dark = page.getByRole('radio', { name: 'Dark' })
    await dark.waitFor()
    const light = await background()
    await page.getByText('Dark', { exact: true }).click()
    await expect.poll(background).not.toBe(light)
    await page.getByText('Light', { exact: true }).click()
    await expect.poll(background).toBe(light)
    await page.context().close()
  } finally {
    await berth.stop()
    await home.remove()
  }
})
