import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Service } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import { connectAccount, rentRunning } from './account-steps.ts'

/** The messages above the screens: alerts, and why polling fails. */
let sim: Service
let id: number
let page: Page
let errors: string[]

test.beforeAll(async ({ startForFile: start }) => {
  sim = await start.simulator()
  const berth = await start.berth({
    flags: ['--demo'],
    settings: { lowCreditDollars: 1000 },
  })
  ;({ page, errors } = await start.page(berth.address))
  await page.getByText('of credit left').first().waitFor()
  id = await rentRunning(sim)
  await connectAccount(page, sim)
})

const messages = () => page.getByRole('region', { name: 'Messages' })
const dismissals = (part: Locator) => part.getByRole('button', { name: /^Dismiss/ })
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

describe('messages', () => {
  test('one strip asks for a decision; all alerts are behind the bell, and are cleared there', async () => {
    await expect.poll(() => dismissals(messages()).count()).toBe(1)
    await page.getByRole('button', { name: 'Notifications: 2' }).press('Enter')
    const list = page.locator('.popover')
    await expect.poll(() => dismissals(list).count()).toBe(2)
    await dismissals(list).first().press('Enter')
    await expect.poll(() => dismissals(list).count()).toBe(1)
    await expect.poll(focused).toBe(await dismissals(list).getAttribute('aria-label'))
    await list.getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('button', { name: 'Notifications: none' }).waitFor()
    await expect.poll(() => dismissals(messages()).count()).toBe(0)
  })

  test('good news is a brief toast and stays behind the bell; nothing moves', async () => {
    await page.getByRole('link', { name: 'Instances', exact: true }).click()
    await sim.control('POST', `/sim/instances/${id}`, { actual_status: 'loading' })
    await page.getByRole('row').getByText('Loading', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Activity', exact: true }).click()
    const screen = page.locator('main > .screen[aria-label="Activity"]')
    const top = () => screen.evaluate(shown => shown.getBoundingClientRect().top)
    const list = screen.locator('.scrolls').first()
    const room = () => list.evaluate(shown => shown.getBoundingClientRect().height)
    const [before, height] = [await top(), await room()]
    const said = page.getByRole('status').getByText(/^\S.* #\d+ is ready$/)
    await sim.control('POST', `/sim/instances/${id}`, { actual_status: 'running' })
    await said.waitFor()
    expect(await messages().getByRole('button').count()).toBe(0)
    expect(await top()).toBe(before)
    expect(await room(), 'it takes nothing from the list').toBe(height)
    await page.getByRole('button', { name: 'Notifications: 1' }).waitFor()
    await page.getByRole('button', { name: 'Notifications: 1' }).click()
    const bell = page.locator('.popover')
    await bell.getByText(/is ready$/).waitFor()
    await bell.getByRole('button', { name: 'Clear all' }).click()
  })

  test('each screen reports an outage once, and offers appear once a refresh succeeds', async () => {
    await sim.control('POST', '/sim/faults', { rules: [{ path: '^/api/', kind: 'status', status: 500 }] })
    await page.getByRole('banner').getByText('Service is failing (500)').waitFor()
    for (const name of ['Offers', 'Templates', 'Hosting', 'Account']) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
      await page
        .getByText(/once the account is connected/)
        .first()
        .waitFor()
      const failures = page.getByRole('main').getByText(/is failing \(500\)/)
      await expect.poll(() => failures.count(), { message: name }).toBe(1)
    }
    await page.getByRole('link', { name: 'Offers', exact: true }).click()
    await sim.control('POST', '/sim/faults', { rules: [] })
    // By keyboard: the button disappears at Berth’s next poll.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'What to do' }).fill('refresh')
    await page.keyboard.press('Enter')
    await page
      .getByRole('button', { name: /^Rent \d/ })
      .first()
      .waitFor()
  })

  test('in a small window no button is covered and the page is no wider than the window', async () => {
    await sim.control('POST', '/sim/faults', { rules: [{ path: '^/api/', kind: 'status', status: 500 }] })
    await page.getByRole('banner').getByText('Service is failing (500)').waitFor()
    for (const size of [
      { width: 480, height: 400 },
      { width: 360, height: 640 },
    ]) {
      await page.setViewportSize(size)
      for (const name of ['Instances', 'Offers', 'Account']) {
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
        const told = `${name} at ${size.width} × ${size.height}`
        const width = () => page.evaluate(() => document.documentElement.scrollWidth)
        await expect.poll(width, { message: told }).toBe(size.width)
        const buttons = page.locator('main button:not(td *)')
        await buttons.first().waitFor()
        // Automatic retries move the buttons while they are checked.
        const covered = () => buttons.evaluateAll(namesOfCovered)
        await expect.poll(covered, { message: told }).toEqual([])
      }
    }
    expect(errors.filter(error => !error.includes('500'))).toEqual([])
  })
})

/** In the page: the visible elements where a click on the middle would hit something else. */
function namesOfCovered(elements: Element[]): string[] {
  const isCovered = (element: Element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return false
    element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
    const { x, y, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0) return false
    const there = document.elementFromPoint(x + width / 2, y + height / 2)
    return there === null || !element.contains(there)
  }
  return elements.filter(isCovered).map(element => element.textContent ?? '')
}
