import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { openConnected, showAllOffers } from '#test/e2e/account-steps.ts'

const soon = { timeout: 150_000 }

interface Listed {
  id: number
  actual_status: string | null
  dph_base: number
  min_bid: number
}

async function instancesOf(sim: Service): Promise<Listed[]> {
  return (await sim.api<{ instances: Listed[] }>('GET', '/api/v0/instances/')).instances
}

/** Berth on a simulator at real speed: a machine boots for a minute or more, unless the clock is advanced. */
async function connected(start: Start): Promise<{ sim: Service; page: Page }> {
  const { sim, page } = await openConnected(start, { simulator: { speed: 1 } })
  return { sim, page }
}

/** Seconds within which a new instance boots. */
const boot = 300

async function seen(page: Page, name: string): Promise<void> {
  const folder = process.env['BERTH_SCREENSHOTS']
  if (folder === undefined) return
  for (const scheme of ['light', 'dark'] as const)
    for (const [width, height] of [
      [1280, 800],
      [700, 600],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height })
      await page.screenshot({ path: `${folder}/${name}-${scheme}-${width}.png` })
    }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1080, height: 720 })
}

test('rent with retries drops a bad machine, marks it among the offers, and forgives it', async ({
  start,
}) => {
  const { sim, page } = await connected(start)
  await page.getByRole('link', { name: 'Offers' }).click()
  await showAllOffers(page)
  await page.setViewportSize({ width: 720, height: 480 })
  await page.getByRole('button', { name: 'Rent, retry if it fails' }).click()
  const dialog = page.getByRole('dialog')
  const [focused, scrolled] = await dialog.getByText(/^Berth rents the first of/).evaluate(async about => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    return [document.activeElement?.tagName, about.parentElement?.scrollTop]
  })
  expect([focused, scrolled], 'it begins at its first sentence').toEqual(['INPUT', 0])
  await page.setViewportSize({ width: 1080, height: 720 })
  await dialog.getByLabel('Attempts', { exact: true }).fill('0')
  await dialog.getByRole('button', { name: /^Rent from/ }).click()
  await dialog.getByText('At least one attempt.').waitFor()
  await seen(page, 'dialog')
  await dialog.getByLabel('Attempts', { exact: true }).fill('3')
  await dialog.getByRole('button', { name: /^Rent from/ }).click()

  await page.getByText('Attempt 1 of 3').waitFor()
  const ids = async () => (await instancesOf(sim)).map(({ id }) => id)
  await expect.poll(ids, soon).toHaveLength(1)
  const [first] = await instancesOf(sim)
  await sim.control('POST', `/sim/instances/${first?.id}`, { actual_status: 'exited' })
  const attempts = page.getByRole('list', { name: 'Dropped attempts' })
  await attempts.getByText('crashed').waitFor(soon)
  await page.getByText('Attempt 2 of 3').waitFor(soon)
  await seen(page, 'row')
  await expect.poll(ids, soon).toEqual([expect.not.toSatisfy(id => id === first?.id)])
  await sim.control('POST', '/sim/clock', { advance: boot })
  await page.getByText('Ready on attempt 2 of 3').waitFor(soon)
  await attempts.getByText(/cost (\$|under)/).waitFor()
  const left = await instancesOf(sim)
  expect(left.map(({ actual_status }) => actual_status)).toEqual(['running'])
  expect(left[0]?.id).not.toBe(first?.id)
  await seen(page, 'ready')
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await page.getByText('Ready on attempt 2 of 3').waitFor({ state: 'detached' })

  await page.getByRole('link', { name: 'Offers' }).click()
  const refresh = page.getByRole('button', { name: 'Refresh' })
  await refresh.click()
  await refresh.and(page.locator(':not([aria-busy])')).waitFor()
  await page.getByRole('table', { name: 'Offers' }).getByRole('button', { name: /^Rent/ }).first().focus()
  await page.keyboard.press('End')
  // A machine may have several offers.
  const failed = page.getByRole('button', { name: /^Failed before/ }).first()
  await failed.click()
  await seen(page, 'failed')
  await page.getByRole('button', { name: 'Forgive' }).click()
  await failed.waitFor({ state: 'detached' })
})

test('rent with retries, cancelled on its row, leaves no instance', async ({ start }) => {
  const { sim, page } = await connected(start)
  await page.getByRole('link', { name: 'Offers' }).click()
  await showAllOffers(page)
  await page.getByRole('button', { name: 'Rent, retry if it fails' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Rent from/ })
    .click()
  await expect.poll(async () => (await instancesOf(sim)).length, soon).toBe(1)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText('No instances').waitFor(soon)
  expect(await instancesOf(sim)).toEqual([])
})

test('an outbid instance has its bid raised by Berth, until its row switches that off', async ({ start }) => {
  const { sim, page } = await connected(start)
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText('Interruptible', { exact: true }).click()
  await page
    .getByRole('button', { name: /^Rent 1 ×/ })
    .first()
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Rent for/ })
    .click()
  const row = page
    .getByRole('table', { name: 'Instances' })
    .getByRole('row')
    .filter({ has: page.getByRole('button', { name: /^More/ }) })
  await expect.poll(async () => (await instancesOf(sim)).length, soon).toBe(1)
  await sim.control('POST', '/sim/clock', { advance: boot })
  await row.getByText('Running', { exact: true }).waitFor(soon)
  const [before] = await instancesOf(sim)
  if (!before) throw new Error('nothing is rented')

  await row.getByRole('link').click()
  await page.getByRole('tab', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Change what happens if outbid' }).click()
  await page.getByText('Raise the bid', { exact: true }).click()
  await page.getByLabel('Bid up to').fill('40')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The highest bid is $32 per hour.').waitFor()
  await page.getByLabel('Bid up to').fill('2')
  await page.getByLabel('At most every').fill('60')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('up to $2.000/h, at most every 1 h').waitFor()

  await sim.control('POST', '/sim/outbid', { instance_id: before.id })
  await expect.poll(async () => (await instancesOf(sim))[0]?.dph_base, soon).toBeGreaterThan(before.dph_base)
  const [after] = await instancesOf(sim)
  expect((after?.dph_base ?? 0) - (after?.min_bid ?? 0)).toBeLessThanOrEqual(0.01 + 1e-9)
  await page.getByText(/1 raise has added/).waitFor(soon)
  await seen(page, 'recovery')

  // Outbid again too soon: it says how long it waits, beside its off switch.
  await sim.control('POST', '/sim/outbid', { instance_id: before.id })
  await page
    .getByText(/Berth raises the bid in/)
    .first()
    .waitFor(soon)
  await seen(page, 'outbid')
  await page.getByRole('button', { name: 'Only notify me' }).click()
  await page.getByRole('button', { name: 'Only notify me' }).waitFor({ state: 'detached' })
})
