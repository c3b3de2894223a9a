import type { ViewportSize } from 'playwright-core'
import { expect } from 'vitest'
import { screens } from '#renderer/features/screens.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { connectForm, openConnected } from './account-steps.ts'

/** The frame of every screen: the account's status, the history, and the layout. */

async function berthAt(
  start: Start,
  flags: readonly string[],
  viewport: ViewportSize = { width: 1080, height: 720 },
) {
  const berth = await start.berth({ flags })
  return start.page(berth.address, { viewport })
}

test('while the service fails, the header says so and since when, and figures stand still', async ({
  start,
}) => {
  const { sim, page, ids } = await openConnected(start, {
    // Berth polls on request only, for 300 s: its own poll would remove the button.
    berth: { settings: { pollInterval: 300 } },
    instances: [{ label: 'kept' }],
  })
  const row = page.getByRole('row', { name: /kept/ })
  await row.waitFor()
  await sim.control('POST', '/sim/faults', { rules: [{ path: '^/api/', kind: 'status', status: 500 }] })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('refresh')
  await page.keyboard.press('Enter')
  await page.getByRole('banner').getByText('Service is failing (500)').waitFor()
  const age = page.getByRole('banner').getByText(/^as of \d\d:\d\d/)
  await age.waitFor()
  await page.evaluate(to => location.assign(to), `#/instances/${ids[0]}/details`)
  await page.getByText(/^As of \d\d:\d\d: not seen since\.$/).waitFor()
  const figures = async () => [
    await row.locator('td.figure').allTextContents(),
    await page.locator('aside dd').allTextContents(),
  ]
  const before = await figures()
  // Meanwhile the account's time runs at sixty times real speed.
  const told = await age.textContent()
  await expect.poll(() => age.textContent()).not.toBe(told)
  expect(await figures()).toEqual(before)
  await sim.control('POST', '/sim/faults', { rules: [] })
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('banner').getByText('Online').waitFor()
  await expect.poll(figures).not.toEqual(before)
})

test('Back closes a dialog first, then leaves the screen; Forward returns to it', async ({ start }) => {
  const { page } = await berthAt(start, ['--demo'])
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Offers' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/offers')
  await page.goBack()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.goForward()
  await page.getByRole('heading', { name: 'Offers' }).waitFor()
})

test('Back leads to the place in the list that was left, and a reload keeps place and order', async ({
  start,
}) => {
  const { page } = await berthAt(start, ['--demo'], { width: 1280, height: 800 })
  await page.getByRole('link', { name: 'Offers' }).click()
  const price = page.getByRole('columnheader', { name: /^\$\/h/ })
  await price.getByRole('button').click()
  await expect.poll(() => price.getAttribute('aria-sort')).toBe('ascending')
  const scroller = page.locator('.scroller')
  const top = () => scroller.evaluate(({ scrollTop }) => scrollTop)
  const path = () => new URL(page.url()).hash
  await scroller.evaluate(area => {
    area.scrollTop = 900
  })
  await page.locator('tr[data-offer] td.figure').nth(5).click()
  const drawer = page.getByRole('complementary', { name: 'Offer' })
  await drawer.waitFor()
  const opened = path()
  expect(opened).toMatch(/^#\/offers\/\d+$/)
  const besideDrawer = await top()
  await page.getByRole('link', { name: 'Activity' }).click()
  await drawer.waitFor({ state: 'detached' })
  await page.goBack()
  await drawer.waitFor()
  expect(path()).toBe(opened)
  await expect.poll(top).toBe(besideDrawer)

  // Closing is the same step back.
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(path()).toBe('#/offers')
  await expect.poll(top).toBeGreaterThan(850)
  await page.goForward()
  await drawer.waitFor()
  await page.goBack()
  await drawer.waitFor({ state: 'detached' })
  await page.reload()
  await expect.poll(() => price.getAttribute('aria-sort')).toBe('ascending')
  await expect.poll(top).toBeGreaterThan(850)
})

test('a key that needs a two-factor login is connected, and the login is asked for', async ({ start }) => {
  const sim = await start.simulator()
  const path = '^/api/v0/(users/current|instances)'
  await sim.control('POST', '/sim/faults', { rules: [{ path, kind: 'status', status: 403 }] })
  const { page } = await berthAt(start, [])
  const dialog = await connectForm(page)
  await dialog.getByLabel('Base URL').fill(sim.baseUrl)
  await dialog.getByLabel('API key').fill(sim.apiKey)
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await page.getByRole('heading', { name: 'Log in with two factors' }).waitFor()
  await page.getByRole('banner').getByText('Key refused').waitFor()
})

test('a key that may see the instances, but not the account, is asked for no login', async ({ start }) => {
  const sim = await start.simulator()
  const path = '^/api/v0/(users/current|tfa/status)'
  await sim.control('POST', '/sim/faults', { rules: [{ path, kind: 'status', status: 403 }] })
  const { page } = await berthAt(start, [])
  const dialog = await connectForm(page)
  await dialog.getByLabel('Base URL').fill(sim.baseUrl)
  await dialog.getByLabel('API key').fill(sim.apiKey)
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await page.getByText('Account connected.').waitFor()
  await page.getByText('Online', { exact: true }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('an address of an unknown instance or screen says so', async ({ start }) => {
  const { page } = await berthAt(start, ['--demo'])
  await page.getByText('No instances').waitFor()
  await page.evaluate(() => location.assign('#/instances/999'))
  await page.getByText(/^Instance #999 isn’t on this account/).waitFor()
  await page.evaluate(() => location.assign('#/nonsense'))
  await page.getByText('No screen has the address “nonsense”.').waitFor()
  await page.getByRole('button', { name: 'Show instances' }).click()
  await page.getByRole('heading', { name: 'Instances' }).waitFor()
  expect(await page.getByText('#999').count()).toBe(0)
})

test('without an account, screens that need one offer to connect it', async ({ start }) => {
  const { page } = await berthAt(start, [])
  await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor()
  const links = page.getByRole('navigation').getByRole('link')
  const names = async () => (await links.allTextContents()).map(name => name.trim())
  await expect.poll(names).toEqual(['Home', 'Projects', 'Activity', 'Settings'])
  const key = page.getByLabel('API key')
  await expect.poll(() => key.evaluate(field => field === document.activeElement)).toBe(true)
  for (const { id, label: name } of screens.filter(({ connect }) => connect)) {
    await page.evaluate(to => location.assign(to), `#/${id}`)
    await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
    const main = page.getByRole('main')
    await main.getByText('No account yet', { exact: true }).waitFor()
    expect(await main.getByRole('button').allTextContents(), name).toEqual(['Connect your account'])
  }
})

test('Enter applies and closes a filter; a wrong value keeps it open', async ({ start }) => {
  const { page } = await berthAt(start, ['--demo'])
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByRole('button', { name: 'Up to: any price' }).click()
  const field = page.getByRole('textbox', { name: 'At most' })
  await field.fill('two')
  await field.press('Enter')
  await page.getByText('Enter a number of $/h.').waitFor()
  await field.fill('0.415')
  await field.press('Enter')
  await field.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Up to: $0.415/h' }).waitFor()
})

test('an error disappears when its field is typed into, not when another one is', async ({ start }) => {
  const { page } = await berthAt(start, ['--demo'])
  await page.getByRole('button', { name: 'Connect your account' }).first().click()
  const dialog = page.getByRole('dialog')
  const baseUrl = dialog.getByLabel('Base URL')
  await dialog.getByText('Other', { exact: true }).click()
  await dialog.getByLabel('Name (optional)').fill('Lab')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  const refusal = dialog.getByText(/enter the base URL of the service/i)
  await refusal.waitFor()
  expect(await baseUrl.getAttribute('aria-invalid')).toBe('true')
  await dialog.getByLabel('Name (optional)').fill('Laboratory')
  expect(await refusal.count()).toBe(1)
  await baseUrl.fill('https://gpu.example')
  await refusal.waitFor({ state: 'detached' })
  expect(await baseUrl.getAttribute('aria-invalid')).not.toBe('true')
})

test('a row’s buttons cover no figure at any window width, even with a long label', async ({ start }) => {
  const label = 'an-experiment-that-nobody-would-name-like-this-by-hand'
  const { sim, page } = await openConnected(start, { instances: [{ label }] })
  await sim.control('POST', '/sim/clock', { advance: 40_000 })
  const row = page.getByRole('row', { name: new RegExp(label) })
  await row.waitFor()
  for (const width of [1440, 1280, 1080, 960, 860, 820, 700, 560, 480]) {
    await page.setViewportSize({ width, height: 720 })
    // A table wider than its container would lie below the buttons, which stay in place.
    const beyond = () =>
      page.getByRole('table', { name: 'Instances' }).evaluate(table => {
        const room = table.parentElement?.clientWidth ?? 0
        return table.scrollWidth - room
      })
    await expect.poll(beyond, { message: `${width}` }).toBeLessThanOrEqual(0)
    expect(await row.getByText(/^\$\d+\.\d{3}\/h$/).isVisible(), `${width}`).toBe(true)
    expect(await row.getByRole('button', { name: 'Terminal' }).isVisible(), `${width}`).toBe(true)
  }
})

test('a long name without spaces runs out of neither its dialog nor Home', async ({ start }) => {
  const label = 'x'.repeat(126)
  const { page, ids } = await openConnected(start, { instances: [{ label }] })
  const [id] = ids
  await page.getByRole('link', { name: 'Instances' }).click()
  await page.getByRole('button', { name: `Destroy ${label} #${id}` }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByTitle(`Destroy ${label} #${id}?`).waitFor()
  const beyond = (element: Element) => element.scrollWidth - element.clientWidth
  expect(await dialog.evaluate(beyond)).toBe(0)
  const button = dialog.getByRole('button', { name: `Destroy ${'x'.repeat(31)}… #${id}`, exact: true })
  expect((await button.boundingBox())?.height).toBeLessThan(60)
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: /^More for/ }).click()
  await page.getByRole('menuitem', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Add limit' }).click()
  await page.getByRole('menuitem', { name: 'Stop it when…' }).click()
  await page.getByRole('button', { name: 'Set limit' }).click()
  await page.setViewportSize({ width: 700, height: 560 })
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByText(/^Next: stops x+/).waitFor()
  expect(await page.getByRole('region', { name: 'Home' }).evaluate(beyond)).toBe(0)
})

test('in the smallest window the header fits and screens scroll to their end', async ({ start }) => {
  const { page } = await berthAt(start, ['--demo'], { width: 480, height: 360 })
  const main = page.locator('main')
  await main.waitFor()
  for (const { label: name } of screens) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
    const header = page.getByRole('banner')
    expect(await header.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), name).toBe(0)
    // The last element of the screen can be scrolled into view.
    const last = main.locator('button:visible, a:visible, td:visible, p:visible').last()
    const inSight = async () => {
      await last.scrollIntoViewIfNeeded()
      const { x = 1000, y = 1000 } = (await last.boundingBox()) ?? {}
      return x < 480 && y < 360
    }
    await expect.poll(inSight, { message: name }).toBe(true)
  }
})
