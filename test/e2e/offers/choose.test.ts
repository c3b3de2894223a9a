import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { patience } from '#test/berth/browser.ts'
import { test as base } from '#test/berth/pages.ts'
import { openConnected, showAllOffers } from '#test/e2e/account-steps.ts'

/** Opens the offers of an account in a window of that size. */
const test = base.extend('offersOf', async ({ start }) => {
  return async (size = { width: 1280, height: 800 }) => {
    const { sim, berth, page } = await openConnected(start, { page: { viewport: size } })
    await page.getByRole('link', { name: 'Offers' }).click()
    await page.locator('tr[data-offer]').first().waitFor()
    const settings = () => readFile(join(berth.home, 'settings.json'), 'utf8').catch(() => '')
    return { sim, page, settings }
  }
})

const drawer = (page: Page) => page.getByRole('complementary', { name: 'Offer' })
/** Opens the first row. */
const openFirst = async (page: Page) => {
  await page.locator('tr[data-offer] td.figure').first().click()
  await drawer(page).waitFor()
}
const chart = (page: Page) => page.getByRole('application')
/** The numbers in `37 of 132`. */
async function counted(page: Page): Promise<number[]> {
  const text = await page.getByText(/^[\d,]+( offers?)? of [\d,]+( verified)?$/).innerText()
  return (text.match(/[\d,]+/g) ?? []).map(each => Number(each.replaceAll(',', '')))
}
const limitsOf = async (page: Page) => {
  await page.getByRole('row', { name: /#\d+/ }).getByRole('link').click()
  await page.getByRole('tab', { name: /^(Limits|Automation)/ }).click()
}

test('a first visit shows all GPUs of verified, reliable hosts; a small window has one line of filters', async ({
  offersOf,
}) => {
  const { page } = await offersOf({ width: 720, height: 480 })
  await page.getByRole('button', { name: 'GPU: any' }).waitFor()
  await page.getByRole('button', { name: /^Reliability: 98%\+/ }).waitFor()
  await page.getByText(/ verified$/).waitFor()
  const filters = page.getByRole('group', { name: 'Filters' })
  expect((await filters.boundingBox())?.height).toBeLessThan(40)
  // A filter that does not fit scrolls into view on focus.
  const reset = filters.getByRole('button', { name: 'Reset' })
  await reset.focus()
  await expect
    .poll(async () => {
      const [line, last] = [await filters.boundingBox(), await reset.boundingBox()]
      return line && last && last.x + last.width <= line.x + line.width
    })
    .toBe(true)
})

test('nothing is selected at first, and Reset goes back to that, also after a reload', async ({
  offersOf,
}) => {
  const { page, settings } = await offersOf()
  expect(await drawer(page).count()).toBe(0)
  const [some = 0, verified = 0] = await counted(page)
  expect(some).toBeLessThan(verified)
  await openFirst(page)
  await showAllOffers(page)
  await page.getByText(/^[\d,]+ offers of [\d,]+$/).waitFor()
  const [shown = 0, all = 0] = await counted(page)
  expect(shown).toBe(all)
  expect(all).toBeGreaterThan(verified)
  await expect.poll(settings, { timeout: patience }).toMatch(/"verifiedOnly":\s*false/)
  await page.getByRole('button', { name: 'Reset' }).click()
  await expect.poll(() => counted(page)).toEqual([some, verified])
  await drawer(page).waitFor({ state: 'detached' })
  await expect.poll(settings, { timeout: patience }).not.toMatch(/"verifiedOnly":\s*false/)
  await page.reload()
  await page.getByLabel('Verified: only').waitFor()
  await expect.poll(() => counted(page)).toEqual([some, verified])
})

test('all of Europe is one tick, which the chip, the countries and the name of the search follow', async ({
  offersOf,
}) => {
  const { page } = await offersOf()
  await page.getByRole('button', { name: 'Place: any' }).click()
  await page.getByRole('searchbox', { name: 'Find in countries' }).fill('europe')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Place: Europe' }).click()
  const tick = (name: string) => page.getByRole('checkbox', { name: new RegExp(`^${name} [\\d,]+$`) })
  expect(await tick('Norway').isChecked()).toBe(true)
  await tick('Norway').uncheck()
  expect(await tick('Europe').evaluate(box => (box as HTMLInputElement).indeterminate)).toBe(true)
  await page.getByRole('button', { name: /^Place: European Union and \d+ more/ }).waitFor()
  await tick('Europe').check()
  await page.keyboard.press('Escape')
  const [some = 0, verified = 0] = await counted(page)
  expect(some).toBeGreaterThan(0)
  expect(some).toBeLessThan(verified)
  await page.getByRole('button', { name: 'Save search' }).click()
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toContain('Europe')
})

test('Home starts the same offer that the drawer in Offers shows', async ({ offersOf }) => {
  const { page } = await offersOf()
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('region', { name: 'Recipes' }).getByText('/h').first().waitFor()
  await page.getByRole('button', { name: 'Rent Notebook…' }).click()
  const title = await page.getByRole('dialog').getByRole('heading').first().innerText()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(`Rent ${await drawer(page).getByRole('heading').first().innerText()}`).toBe(title)
})

test('Home rents a model to chat with by its name, a token and a limit', async ({ offersOf }) => {
  const { sim, page } = await offersOf()
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('button', { name: 'Rent Chat with a model…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Chat with a model' })
  await dialog.getByRole('button', { name: 'All options' }).click()
  await page.getByRole('dialog').getByLabel('Image', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('button', { name: 'Rent Chat with a model…' }).click()
  const rent = dialog.getByRole('button', { name: /^Rent for \$/ })
  await dialog.getByLabel('Model', { exact: true }).fill('')
  expect(await rent.isDisabled()).toBe(true)
  await dialog.getByLabel('Model', { exact: true }).fill('Qwen/Qwen2.5-7B-Instruct')
  await dialog.getByLabel('Hugging Face token (optional)').fill('token-of-mine')
  await dialog.getByRole('button', { name: '30 min idle' }).click()
  await rent.click()
  await page.getByRole('table', { name: 'Instances' }).getByRole('row').nth(1).waitFor()
  const rented = async () => {
    const { instances } = await sim.api<{ instances: { extra_env: [string, string][] }[] }>(
      'GET',
      '/api/v0/instances/',
    )
    return Object.fromEntries(instances[0]?.extra_env ?? [])
  }
  await expect.poll(rented, { timeout: patience }).toMatchObject({
    MODEL_NAME: 'Qwen/Qwen2.5-7B-Instruct',
    HF_TOKEN: 'token-of-mine',
  })
  await limitsOf(page)
  const rules = page.getByRole('switch', { name: /^Stops / })
  await rules.and(page.getByLabel(/stays below 5% for 30 min\.$/)).waitFor()
})

test('a region drawn on the chart by pointer or keyboard filters the table until lifted', async ({
  offersOf,
}) => {
  const { page } = await offersOf()
  await showAllOffers(page)
  await page.getByText(/^[\d,]+ offers of [\d,]+$/).waitFor()
  const [, all = 0] = await counted(page)
  await expect.poll(async () => (await counted(page))[0]).toBe(all)
  const box = await chart(page).boundingBox()
  if (!box) throw new Error('there is no chart')
  await page.mouse.move(box.x + 60, box.y + 30)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 40, { steps: 4 })
  await page.mouse.up()
  const lift = page.getByRole('button', { name: 'Clear the region' })
  await lift.waitFor()
  await page.getByText(/^in the region \$\d+\.\d\d–\d+\.\d\d, score \d+–\d+$/).waitFor()
  const [within = 0, of = 0] = await counted(page)
  expect(of).toBe(all)
  expect(within).toBeGreaterThan(0)
  expect(within).toBeLessThan(all)
  await lift.click()
  await expect.poll(async () => (await counted(page))[0]).toBe(all)

  // By keyboard: arrows choose an offer, which the drawer shows; Shift and arrows make and widen a region.
  await openFirst(page)
  await chart(page).focus()
  const before = await drawer(page).innerText()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => drawer(page).innerText()).not.toBe(before)
  await page.keyboard.press('Shift+ArrowRight')
  await lift.waitFor()
  const [narrow = 0] = await counted(page)
  for (let key = 0; key < 6; key += 1) await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(async () => ((await counted(page))[0] ?? 0) >= narrow).toBe(true)
  await page.keyboard.press('Escape')
  await lift.waitFor({ state: 'detached' })
})

test('the drawer rents with the chosen stop rules, and they are remembered', async ({ offersOf }) => {
  const { sim, page } = await offersOf()
  await openFirst(page)
  const stop = (name: string) => drawer(page).getByRole('button', { name, exact: true })
  // A first rental stops after eight hours, unless one says no.
  expect(await stop('8 h').getAttribute('aria-pressed')).toBe('true')
  for (const name of ['30 min idle', '$20'])
    expect(await stop(name).getAttribute('aria-pressed')).toBe('false')
  await stop('8 h').click()
  const unstopped = drawer(page).getByText('No auto-stop')
  await unstopped.waitFor()
  await stop('30 min idle').click()
  await unstopped.waitFor({ state: 'detached' })
  await stop('Custom…').click()
  await page.getByLabel('Cost reaches, $').fill('7.5')
  await page.keyboard.press('Escape')
  await stop('$7.50').waitFor()
  expect(await stop('$7.50').getAttribute('aria-pressed')).toBe('true')
  await drawer(page)
    .getByRole('button', { name: /^Rent for \$/ })
    .click()

  const rented = () => sim.api<{ instances: { id: number }[] }>('GET', '/api/v0/instances/')
  await expect
    .poll(async () => (await rented()).instances.length, { timeout: patience, interval: 1500 })
    .toBe(1)
  await page.getByRole('row', { name: /#\d+/ }).waitFor()
  await limitsOf(page)
  const rules = page.getByRole('switch', { name: /^Stops / })
  await rules.and(page.getByLabel(/ when its GPU load stays below 5% for 30 min\.$/)).waitFor()
  await rules.and(page.getByLabel(/ when it has cost \$7\.50\.$/)).waitFor()

  await page.getByRole('link', { name: 'Offers' }).click()
  await openFirst(page)
  expect(await stop('30 min idle').getAttribute('aria-pressed')).toBe('true')
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog', { name: /^Rent/ })
  const chosen = dialog.getByRole('group', { name: 'Stop when' }).getByRole('button', { pressed: true })
  expect(await chosen.allInnerTexts()).toEqual(['30 min idle', '$7.50'])
})

test('an interruptible offer shows its bid before anything is rented', async ({ offersOf }) => {
  const { sim, page } = await offersOf()
  await page.getByText('Interruptible', { exact: true }).click()
  await openFirst(page)
  await drawer(page).getByRole('button', { name: 'Rent…', exact: true }).click()
  const bid = page.getByRole('dialog', { name: /^Rent/ }).getByLabel('Bid ($/h)')
  await bid.waitFor()
  expect(Number(await bid.inputValue())).toBeGreaterThan(0)
  const { instances } = await sim.api<{ instances: unknown[] }>('GET', '/api/v0/instances/')
  expect(instances).toEqual([])
})

test('in a narrow window an opened row takes the list’s place, and a low one has no chart', async ({
  offersOf,
}) => {
  const { page } = await offersOf({ width: 720, height: 480 })
  expect(await drawer(page).count()).toBe(0)
  expect(await chart(page).count()).toBe(0)
  await page.locator('tr[data-offer]').first().locator('td.reliability').click()
  /** Whether all of it is within the window. */
  const inSight = (it: Locator) =>
    it.evaluate(element => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })
  const rent = drawer(page).getByRole('button', { name: /^Rent for \$/ })
  await rent.waitFor()
  expect(await inSight(rent)).toBe(true)
  expect(await inSight(drawer(page).getByRole('group', { name: 'Stop when' }))).toBe(true)
  await page.keyboard.press('Escape')
  await drawer(page).waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await chart(page).waitFor()
})

test('the last search and the chosen columns are restored after a reload', async ({ offersOf }) => {
  const { page, settings } = await offersOf()
  await page.getByLabel('Find in offers').fill('RTX 4090')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: /^Reliable/ }).uncheck()
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'Reliable' }).waitFor({ state: 'detached' })
  await expect.poll(settings, { timeout: patience }).toContain('RTX 4090')
  await page.reload()
  await page.getByLabel('Find in offers').waitFor()
  await expect.poll(() => page.getByLabel('Find in offers').inputValue()).toBe('RTX 4090')
  expect(await page.getByRole('columnheader', { name: 'Reliable' }).count()).toBe(0)
})

test('a click that leaves a field takes effect even if an error appears below it', async ({ offersOf }) => {
  const { page } = await offersOf()
  await page.getByRole('link', { name: 'Templates' }).click()
  await page
    .getByRole('button', { name: /^New template/ })
    .first()
    .click()
  await page.getByLabel('Name', { exact: true }).focus()
  const isPrivate = page.getByRole('switch', { name: /^Private/ })
  const before = await isPrivate.isChecked()
  const box = await isPrivate.boundingBox()
  if (!box) throw new Error('there is no switch')
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.locator('[aria-invalid=true]').first().waitFor()
  expect(await isPrivate.isChecked()).toBe(!before)
})
