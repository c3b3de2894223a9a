import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectAccount } from './account-steps.ts'
import { openBrowser, openPage, scratchFolder, startBerth, startSimulatorProcess } from './app.ts'

let browser: Browser
let page: Page
let ends: (() => unknown)[] = []
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())
beforeEach(async () => {
  const sim = await startSimulatorProcess(['--offers', '500', '--speed', '1'])
  const home = await scratchFolder()
  const berth = await startBerth(home.path)
  ends = [() => berth.stop(), sim.stop, home.remove]
  ;({ page } = await openPage(browser, berth.address))
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Offers' }).click()
  await rows().nth(20).waitFor({ state: 'attached' })
})
afterEach(async () => {
  await page.context().close()
  for (const end of ends) await end()
})

const rows = () => page.locator('tr[data-offer]')
const scrollTo = (top: number) =>
  page.evaluate(to => {
    const scroller = document.querySelector('.scroller')
    if (scroller) scroller.scrollTop = to
  }, top)
/** The offer whose row has the focus. */
const focusedOffer = () =>
  page.evaluate(() => document.activeElement?.closest('tr')?.getAttribute('data-offer') ?? undefined)
const firstRow = () => rows().first().getAttribute('aria-rowindex')

test('scrolling keeps the elements of the rows and the order they are read in', async () => {
  await rows().evaluateAll(all => {
    for (const row of all) row.setAttribute('data-mark', 'old')
  })
  for (const top of [36 * 30, 36 * 33, 36 * 200]) {
    await scrollTo(top)
    await expect.poll(firstRow).toBe(String(top / 36 - 3 + 2))
    const drawn = await rows().evaluateAll(all => all.map(row => Number(row.getAttribute('aria-rowindex'))))
    expect(drawn).toEqual(drawn.map((_, at) => (drawn[0] ?? 0) + at))
    expect(await page.locator('tr[data-offer]:not([data-mark])').count()).toBe(0)
  }
})

test('the focus stays with its offer, and with nothing once that is out of sight', async () => {
  const offer = await rows().nth(5).getAttribute('data-offer')
  await rows().nth(5).getByRole('button').focus()
  await scrollTo(36 * 6)
  await expect.poll(firstRow).toBe('5')
  expect(await focusedOffer()).toBe(offer)
  await scrollTo(36 * 200)
  await expect.poll(firstRow).toBe(String(200 - 3 + 2))
  expect(await focusedOffer()).toBeUndefined()
})
