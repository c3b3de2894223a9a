import type { Locator } from 'playwright-core'
import { describe, expect } from 'vitest'
import { patience } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { openConnected, openPolling } from './account-steps.ts'

async function open(start: Start) {
  const {
    page,
    ids: [id],
  } = await openConnected(start, { instances: [{ label: 'box' }] })
  const row = page.getByRole('row', { name: /box/ }).first()
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, row, id }
}

describe('an instance row', () => {
  test('draws its GPU load, counts down to its limit and can snooze it', async ({ start }) => {
    const { page, row, id } = await open(start)
    await row.getByRole('img', { name: /^GPU load in the last hour: \d+% now/ }).waitFor()
    await page.getByText('1 running').waitFor()
    await row.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: 'Limits' }).click()
    await page.getByRole('button', { name: 'Add limit' }).click()
    await page.getByRole('menuitem', { name: 'Stop it when…' }).click()
    await page.getByLabel(/^When: /).click()
    await page.getByRole('option', { name: 'After a number of hours' }).click()
    await page.getByLabel('After', { exact: true }).fill('0.4')
    await page.getByRole('button', { name: 'Set limit' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /box .*2\d min · \d\d:\d\d/ }).waitFor()
    // Beside the list its details say it, with the button to answer it.
    const next = page.getByText(/^Next: stops .*\d\d:\d\d/)
    await next.waitFor()
    await page.getByRole('button', { name: new RegExp(`^Extend 1 h before it stops: box #${id}`) }).click()
    await page.getByRole('row', { name: /box .*(?:59 min|1 h).* · \d\d:\d\d/ }).waitFor()
    // Said once: a second line is for what wants an answer.
    await next.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('row', { name: /box .*Limit: .*(?:59 min|1 h).* · \d\d:\d\d/ }).waitFor()
  })

  test('is reached, left and destroyed by keyboard; the focus then moves to the next', async ({ start }) => {
    const { page } = await openConnected(start, {
      instances: [{ label: 'one' }, { label: 'two' }, { label: 'three' }],
    })
    const rows = page.getByRole('row').filter({ has: page.locator('[data-row]') })
    await expect.poll(() => rows.count()).toBe(3)
    await page.keyboard.press('Control+3')
    await page.locator('tr[data-offer]').first().waitFor()
    await page.keyboard.press('Control+2')
    await rows.first().waitFor()
    const names = await rows.locator('[data-row]').allInnerTexts()
    /** The name of the row with the focus. */
    const focused = () =>
      page.evaluate(() => {
        const name = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('[data-row]')
        return name?.innerText ?? document.activeElement?.tagName
      })
    await page.reload()
    await rows.first().waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe(names[0])
    const menu = page.getByRole('menu')
    const hasFocus = (it: Locator) =>
      expect.poll(() => it.evaluate(element => element.contains(document.activeElement))).toBe(true)
    await page.keyboard.press('m')
    await hasFocus(menu)
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe(names[0])
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe(names[1])

    const destroy = async () => {
      const dialog = page.getByRole('alertdialog')
      await hasFocus(dialog)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
    }
    await page.keyboard.press('m')
    await hasFocus(menu)
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await destroy()
    await expect.poll(() => rows.count(), { timeout: patience }).toBe(2)
    await expect.poll(focused).toBe(names[2])
    await page.keyboard.press('Delete')
    await destroy()
    await expect.poll(() => rows.count(), { timeout: patience }).toBe(1)
    await expect.poll(focused).toBe(names[0])
  })

  test('a click gives the row the focus, and its details stand beside it in sight', async ({ start }) => {
    const { page } = await openConnected(start, { instances: [{ label: 'one' }, { label: 'two' }] })
    const rows = page.getByRole('row').filter({ has: page.locator('[data-row]') })
    await expect.poll(() => rows.count()).toBe(2)
    await page.setViewportSize({ width: 1100, height: 700 })
    const [first, last] = [rows.first(), rows.last()]
    const isFocused = (row: Locator) =>
      expect
        .poll(() => row.locator('[data-row]').evaluate(name => name === document.activeElement))
        .toBe(true)
    await last.locator('td').nth(2).click()
    await page.getByRole('tablist').first().waitFor()
    await isFocused(last)
    const details = page.getByRole('complementary', { name: /^Details of / })
    const [row, beside] = await Promise.all([last.boundingBox(), details.boundingBox()])
    expect(beside?.x).toBeGreaterThanOrEqual((row?.x ?? 0) + (row?.width ?? 0))

    // A drag over a name selects it, to copy it, and opens nothing.
    const name = first.locator('[data-row] span').first()
    const place = await name.boundingBox()
    await page.mouse.move(place?.x ?? 0, (place?.y ?? 0) + 8)
    await page.mouse.down()
    await page.mouse.move((place?.x ?? 0) + (place?.width ?? 0), (place?.y ?? 0) + 8, { steps: 4 })
    await page.mouse.up()
    expect(await page.evaluate(() => String(getSelection()))).toBe(await name.innerText())
    expect(await last.getAttribute('aria-current')).toBe('true')
    await last.locator('td').first().click()

    // Arrows walk the list, and the details follow.
    const above = await first.locator('[data-row]').getAttribute('data-instance')
    await page.keyboard.press('ArrowUp')
    await isFocused(first)
    await page.getByRole('complementary', { name: new RegExp(`^Details of .*#${above}`) }).waitFor()

    // Keys act from where one clicked: in the details, and where nothing has the focus.
    await details.getByRole('heading').first().click()
    await page.keyboard.press('r')
    await page.getByRole('dialog').waitFor()
    // What is typed next replaces the name.
    const label = await page.getByLabel('Name', { exact: true }).inputValue()
    expect(await page.evaluate(() => String(getSelection()))).toBe(label)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await details.getByRole('tab', { name: 'Details' }).click()
    await page.keyboard.press('Escape')
    await isFocused(first)
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await isFocused(first)
  })

  test('is found by a click on what needs the user, by its state and by its place', async ({ start }) => {
    const { sim, page, ids } = await openConnected(start, {
      instances: [{ label: 'one' }, { label: 'two' }],
    })
    const rows = page.getByRole('row').filter({ has: page.locator('[data-row]') })
    await expect.poll(() => rows.count()).toBe(2)
    await sim.control('POST', `/sim/instances/${ids[1]}`, { actual_status: 'offline' })
    const urgent = page.getByRole('button', { name: '1 needs you' })
    await urgent.click()
    await expect.poll(() => rows.count()).toBe(1)
    await rows.getByText('Offline', { exact: true }).waitFor()
    await urgent.click()
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByRole('searchbox').fill('offline')
    await expect.poll(() => rows.count()).toBe(1)
  })
})

test('Home’s number of idle machines leads to the list of these alone, selected', async ({ start }) => {
  const { sim, berth, page, ids } = await openConnected(start, {
    simulator: { speed: 0 },
    instances: [{ label: 'one' }, { label: 'two' }, { label: 'three' }, { label: 'four' }],
  })
  const poll = await openPolling(start, berth.address)
  const idle = async () => {
    const { instances } = await sim.api<{ instances: { gpu_util: number | null }[] }>(
      'GET',
      '/api/v0/instances/',
    )
    return instances.filter(({ gpu_util }) => gpu_util === 0).length
  }
  const rows = page.getByRole('row').filter({ has: page.locator('[data-row]') })
  await expect.poll(() => rows.count()).toBe(ids.length)
  // Loads change every 45 minutes, and some machines are idle in some of them.
  for (let tries = 0; (await idle()) !== 1 && tries < 40; tries += 1)
    await sim.control('POST', '/sim/clock', { advance: 900 })
  for (let minute = 0; minute < 12; minute += 1) {
    await poll()
    await sim.control('POST', '/sim/clock', { advance: 60 })
  }
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('button', { name: /^1 idle/ }).click()
  await page.getByRole('heading', { name: 'Instances', level: 1 }).waitFor()
  const idleOnes = page.getByRole('button', { name: /1 idle/, pressed: true })
  await idleOnes.waitFor()
  expect(await rows.count()).toBe(1)
  const selected = page.getByRole('toolbar', { name: 'Selected instances' })
  await selected.getByText('1 selected').waitFor()
  await idleOnes.click()
  await selected.waitFor({ state: 'detached' })
  expect(new URL(page.url()).hash).toBe('#/instances')
})
