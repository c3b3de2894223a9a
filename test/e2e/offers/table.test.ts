import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test as base } from '#test/berth/pages.ts'
import { openConnected, showAllOffers } from '#test/e2e/account-steps.ts'

/** The offers, in a table that can be scrolled. */
const test = base.extend('page', async ({ start }) => {
  const { page } = await openConnected(start, { simulator: { speed: 1 } })
  await page.getByRole('link', { name: 'Offers' }).click()
  await showAllOffers(page)
  await page.getByText(/^[\d,]+ offers of [\d,]+$/).waitFor()
  await rowsOf(page).nth(10).waitFor({ state: 'attached' })
  return page
})

/** The `aria-rowindex` of a row; the header has the first. */
const indexOf = (row: number) => String(row + 2)

const rowsOf = (page: Page) => page.locator('tr[data-offer]')
const firstRow = (page: Page) => rowsOf(page).first().getAttribute('aria-rowindex')
const scrollTo = (page: Page, top: number) =>
  page.evaluate(to => {
    const scroller = document.querySelector('.scroller')
    if (scroller) scroller.scrollTop = to
  }, top)
/** The offer whose row has the focus. */
const focusedOffer = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest('tr')?.getAttribute('data-offer') ?? undefined)

test('scrolling keeps the row elements and their reading order', async ({ page }) => {
  const rows = rowsOf(page)
  await rows.evaluateAll(all => {
    for (const row of all) row.setAttribute('data-mark', 'old')
  })
  for (const top of [36 * 30, 36 * 33, 36 * 200]) {
    await scrollTo(page, top)
    await expect.poll(() => firstRow(page)).toBe(indexOf(top / 36))
    const drawn = await rows.evaluateAll(all => all.map(row => Number(row.getAttribute('aria-rowindex'))))
    expect(drawn).toEqual(drawn.map((_, at) => (drawn[0] ?? 0) + at))
    expect(await page.locator('tr[data-offer]:not([data-mark])').count()).toBe(0)
  }
})

test('a row that stays visible keeps its element', async ({ page }) => {
  const rows = rowsOf(page)
  await scrollTo(page, 36 * 30)
  await expect.poll(() => firstRow(page)).toBe(indexOf(30))
  await rows.evaluateAll(all => {
    for (const row of all) row.setAttribute('data-mark', row.getAttribute('data-offer') ?? '')
  })
  for (const row of [32, 29, 31]) {
    await scrollTo(page, 36 * row)
    await expect.poll(() => firstRow(page)).toBe(indexOf(row))
    const same = await rows.evaluateAll(
      all => all.filter(each => each.getAttribute('data-mark') === each.getAttribute('data-offer')).length,
    )
    expect(same).toBeGreaterThanOrEqual((await rows.count()) - 3)
  }
})

test('the focus stays on its offer, and is dropped once that scrolls away', async ({ page }) => {
  const rows = rowsOf(page)
  const offer = await rows.nth(5).getAttribute('data-offer')
  await rows.nth(5).getByRole('button', { name: /^Rent/ }).focus()
  await scrollTo(page, 36 * 4)
  await expect.poll(() => firstRow(page)).toBe(indexOf(4))
  expect(await focusedOffer(page)).toBe(offer)
  await scrollTo(page, 36 * 200)
  await expect.poll(() => firstRow(page)).toBe(indexOf(200))
  expect(await focusedOffer(page)).toBeUndefined()
})

test('a click at the edge of a head sorts by its column', async ({ page }) => {
  const disk = page.getByRole('columnheader', { name: 'Disk' })
  await disk.click({ position: { x: 3, y: 3 } })
  await expect.poll(() => disk.getAttribute('aria-sort')).toBe('descending')
})

test('giving up a rental returns the focus to its Rent button', async ({ page }) => {
  const rent = rowsOf(page).nth(2).getByRole('button', { name: /^Rent/ })
  await rent.press('Enter')
  await page.getByRole('dialog').getByRole('textbox').first().pressSequentially('7')
  await page.keyboard.press('Escape')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => rent.evaluate(button => button === document.activeElement)).toBe(true)
})
