import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, openPage, scratchFolder, startBerth } from './app.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the palette finds a command by a few letters and runs it, by keyboard alone and within the content policy', async () => {
  const home = await scratchFolder()
  const berth = await startBerth(home.path, ['--demo'])
  try {
    const { page, errors } = await openPage(browser, berth.address)
    await page.getByRole('link', { name: 'Offers' }).waitFor()
    await page.keyboard.press('Control+k')
    const input = page.getByRole('combobox', { name: 'What to do' })
    await input.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.type('settings')
    const first = page.getByRole('option').first()
    expect(await first.getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.keyboard.press('Control+k')
    await input.waitFor()
    await page.keyboard.type('nothing is called this')
    await page.getByText('Nothing is called that.').waitFor()
    await page.keyboard.press('Escape')
    await input.waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.context().close()
  } finally {
    await berth.stop()
    await home.remove()
  }
})
