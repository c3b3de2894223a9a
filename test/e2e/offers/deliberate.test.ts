import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { openConnected } from '#test/e2e/account-steps.ts'

/** Offers, the dearest first, on an account with that credit in dollars. */
async function openOffers(start: Start, credit: number) {
  const opened = await openConnected(start, { page: { viewport: { width: 1440, height: 900 } } })
  await opened.sim.control('POST', '/sim/credit', { credit })
  const { page } = opened
  await page.getByRole('link', { name: 'Offers' }).click()
  const price = page.getByRole('columnheader', { name: /^\$\/h/ }).getByRole('button')
  await price.click()
  await price.click()
  return opened
}

async function rented(sim: Service): Promise<number> {
  const { requests } = (await sim.control('GET', '/sim/requests')) as {
    requests: { method: string; path: string }[]
  }
  return requests.filter(({ method, path }) => method === 'PUT' && path.includes('/asks/')).length
}

const beyond = /more than your \$0\.50\. It would be cut off after/

/** The question about the rental, which the button of `within` and the keys ask alike; answers it with Cancel. */
async function expectQuestion(page: Page, within: Locator): Promise<void> {
  const verb = (await within.getByRole('button', { name: /of credit…$/ }).innerText()).replace('…', '')
  const question = page.getByRole('alertdialog', { name: 'Rent beyond your credit?' })
  await question.getByText(beyond).waitFor()
  await question.getByRole('button', { name: verb, exact: true }).waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'detached' })
}

describe('renting', () => {
  test('beyond the credit is asked about in the same words by drawer, dialog and keys', async ({ start }) => {
    const { page, sim } = await openOffers(start, 0.5)
    await page.locator('tr[data-offer] td').first().click()
    const drawer = page.getByRole('complementary', { name: 'Offer' })
    await drawer.getByText(beyond).waitFor()
    await drawer.getByRole('button', { name: /of credit…$/ }).click()
    await expectQuestion(page, drawer)

    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog', { name: /^Rent/ })
    await dialog.getByRole('button', { name: /of credit…$/ }).click()
    await expectQuestion(page, dialog)
    await dialog.getByLabel('Image', { exact: true }).press('Control+Enter')
    await expectQuestion(page, dialog)
    expect(await rented(sim)).toBe(0)

    await dialog.getByLabel('Image', { exact: true }).press('Control+Enter')
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Rent for/ })
      .click()
    await page.getByRole('heading', { name: 'Instances' }).waitFor()
    await expect.poll(() => rented(sim)).toBe(1)
  })

  test('Enter in a field never rents, Ctrl Enter does where nothing says no', async ({ start }) => {
    const { page, sim } = await openOffers(start, 5000)
    await page.locator('tr[data-offer]').first().getByRole('button', { name: /^Rent/ }).press('Enter')
    const dialog = page.getByRole('dialog', { name: /^Rent/ })
    await dialog.getByRole('button', { name: /^Rent for \$/ }).waitFor()
    await dialog.getByLabel('Disk').fill('30')
    for (const field of await dialog.locator('input:visible').all()) {
      await field.press('Enter')
      expect(await dialog.isVisible()).toBe(true)
    }
    expect(await rented(sim)).toBe(0)
    await dialog.getByLabel('Disk').press('Control+Enter')
    await page.getByRole('heading', { name: 'Instances' }).waitFor()
    await expect.poll(() => rented(sim)).toBe(1)
  })
})
