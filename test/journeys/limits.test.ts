import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, openPolling, rentRunning } from '#test/e2e/account-steps.ts'
import { nextMorning } from '../morning.ts'

const soon = { timeout: 150_000 }
/** Each clock advance takes two seconds here. */
vi.setConfig({ testTimeout: 360_000 })

interface Scene {
  sim: Service
  page: Page
  /** Instances that run at first. */
  ids: number[]
  /** Polls once, and waits until the page has drawn the result. */
  seen(): Promise<void>
  /** When the clock was advanced, in milliseconds, until that is settled. */
  advancedAt?: number | undefined
}

async function scene(start: Start, count: number): Promise<Scene> {
  // Its time advances when the test says so, and hardly while the page is read, even on a busy machine.
  const sim = await start.simulator({ speed: 1 })
  // A month that ends during the test would reset its budget.
  await sim.control('POST', '/sim/clock', { advance: (nextMorning() - Date.now()) / 1000 })
  await sim.control('POST', '/sim/credit', { credit: 100 })
  const ids: number[] = []
  for (let made = 0; made < count; made += 1) ids.push(await rentRunning(sim))
  const berth = await start.berth()
  const { page } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, sim)
  await page.getByRole('row', { name: new RegExp(`#${ids[0]}`) }).waitFor()
  return { sim, page, ids, seen: await openViewer(start, berth.address, page) }
}

async function stateOf({ sim }: Scene, id: number): Promise<string | null> {
  const { instances } = await sim.api<{ instances: { actual_status: string | null } }>(
    'GET',
    `/api/v0/instances/${id}/`,
  )
  return instances.actual_status
}

/** Advances the clock once, after what came before was settled, and polls. */
async function pass(at: Scene, seconds: number): Promise<void> {
  await settle(at)
  await at.sim.control('POST', '/sim/clock', { advance: seconds })
  await at.seen()
  at.advancedAt = performance.now()
}

/**
 * Polls twice after an advance, far enough apart for Berth to measure the speed of the account's clock: otherwise two
 * advances would look like a faster clock, depending on how long a poll takes.
 */
async function settle(at: Scene): Promise<void> {
  if (at.advancedAt === undefined) return
  await wait(at.advancedAt + measured - performance.now())
  await at.seen()
  await wait(measured)
  await at.seen()
  at.advancedAt = undefined
}

/** Milliseconds: a little more than `shortestMeasurement` of the account's clock. */
const measured = 950

/** Advances in steps of 300 s until the condition holds, for an hour at most. */
async function passUntil(at: Scene, wanted: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 12 && !(await wanted()); step += 1) {
    await settle(at)
    if (!(await wanted())) await pass(at, 300)
  }
  expect(await wanted()).toBe(true)
}

/**
 * Returns a function that polls, and waits until the page has drawn the result: a poll that has only begun may reach the
 * page after the moment that it warns of.
 */
async function openViewer(start: Start, address: string, page: Page): Promise<() => Promise<void>> {
  const polled = await openPolling(start, address)
  return async () => {
    await polled()
    await page.evaluate(
      () => new Promise<void>(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn()))),
    )
  }
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByLabel(new RegExp(`^${label}: `)).click()
  await page.getByRole('option', { name: option }).click()
}

/** Opens the limit dialog from the instance's menu. */
async function newLimitOn({ page }: Scene, id: number): Promise<void> {
  await page.getByRole('link', { name: 'Instances' }).click()
  await page.getByRole('button', { name: new RegExp(`^More for .*#${id}`) }).click()
  await page.getByRole('menuitem', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Add limit' }).click()
  await page.getByRole('menuitem', { name: 'Stop it when…' }).click()
}

async function newLimitOnAccount({ page }: Scene): Promise<void> {
  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.getByRole('button', { name: 'Add limit…' }).click()
}

/** Submits the dialog; returns the seconds until the limit acts, as the dialog says. */
async function set(page: Page): Promise<number> {
  const preview = page
    .getByRole('status', { name: 'What will happen' })
    .and(page.locator('[aria-busy=false]'))
  const moment = /(?:, in|^In) (?:(\d+) d ?)?(?:(\d+) h ?)?(?:(\d+) min)?/m
  await expect.poll(() => preview.innerText(), soon).toMatch(moment)
  const [, days = 0, hours = 0, minutes = 0] = moment.exec(await preview.innerText()) ?? []
  await page.getByRole('button', { name: 'Set limit' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  return Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60
}

const halted = (at: Scene, id: number) => passUntil(at, async () => (await stateOf(at, id)) === 'stopped')

/** The details that stand beside the list, with what is to be said about their instance. */
const detailsOf = (page: Page, id: number) =>
  page.getByRole('complementary', { name: new RegExp(`^Details of .*#${id}`) })

test('each kind of limit shows its moment, warns, can be snoozed and acts', async ({ start }) => {
  const at = await scene(start, 4)
  const { page, ids } = at
  const [timed = 0, lasting = 0, idle = 0, costly = 0] = ids
  const kinds: [number, string, string?, string?][] = [
    [timed, 'At a set time'],
    [lasting, 'After a number of hours', 'After', '2'],
    [costly, 'At a total cost', 'Cost since renting', '9'],
  ]
  for (const [id, kind, label, value] of kinds) {
    await newLimitOn(at, id)
    await choose(page, 'When', kind)
    const typed = id === costly ? String(Math.ceil((await spent(at, id)) * 100 + 12) / 100) : value
    if (label && typed) await page.getByLabel(label, { exact: true }).fill(typed)
    // Just before its warning of 15 minutes ahead: the cost is known only as of the last poll.
    await pass(at, (await set(page)) - 960)
    const keep = page.getByRole('button', { name: new RegExp(`^Extend 1 h before it stops: .*#${id}`) })
    await passUntil(at, () => keep.isVisible())
    await detailsOf(page, id)
      .getByText(/stops at \d/)
      .first()
      .waitFor()
    await keep.click(soon)
    await page.getByText('Extended', { exact: true }).waitFor()
    expect(await stateOf(at, id)).toBe('running')
    await pass(at, 4800)
    await halted(at, id)
    await page
      .getByText(/^Stopped .*#/)
      .first()
      .waitFor()
  }

  await newLimitOn(at, idle)
  await choose(page, 'When', 'When idle')
  await page.getByLabel('GPU load below').fill('100')
  await page.getByLabel('For', { exact: true }).fill('10')
  await set(page)
  const keep = page.getByRole('button', { name: new RegExp(`^Extend 1 h before it stops: .*#${idle}`) })
  await passUntil(at, () => keep.isVisible())
  await detailsOf(page, idle)
    .getByText(/^Idle since/)
    .first()
    .waitFor()
  await keep.click(soon)
  await page.getByText('Extended', { exact: true }).waitFor()
  expect(await stateOf(at, idle)).toBe('running')
  await pass(at, 3600)
  await halted(at, idle)
})

/** Dollars that the instance has cost so far. */
async function spent({ sim }: Scene, id: number): Promise<number> {
  const { instances } = await sim.control<{ instances: { instance_id: number; micro_dollars: number }[] }>(
    'GET',
    '/sim/ledger',
  )
  return (instances.find(({ instance_id }) => instance_id === id)?.micro_dollars ?? 0) / 1_000_000
}

test('account limits stop instances by budget and credit; one question stops the rest', async ({ start }) => {
  const at = await scene(start, 3)
  const { sim, page, ids } = at
  const running = async () =>
    (await Promise.all(ids.map(id => stateOf(at, id)))).filter(state => state === 'running').length
  await newLimitOnAccount(at)
  await choose(page, 'When', 'At a monthly budget')
  await page.getByLabel('Spending per month').fill('0.4')
  await pass(at, (await set(page)) - 960)
  await passUntil(at, () => page.getByRole('button', { name: 'Extend 1 h', exact: true }).isVisible())
  await page.getByRole('button', { name: 'Extend 1 h', exact: true }).click(soon)
  await page.getByText('Extended', { exact: true }).waitFor()
  await pass(at, 4800)
  for (const id of ids) await halted(at, id)
  await page.getByRole('button', { name: /^More: Stops all running instances/ }).click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await sim.control('POST', '/sim/credit', { credit: 110 * (await perHour(at)) })

  for (const id of ids) await sim.api('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
  await pass(at, 600)
  await passUntil(at, async () => (await running()) === 3)
  await page
    .getByText(/^4 d \d+ h$/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Add limit…' }).click()
  await choose(page, 'When', 'When credit runs low')
  await page.getByLabel('The credit would last less than').fill('100')
  await pass(at, (await set(page)) - 960)
  await passUntil(at, () => page.getByRole('button', { name: 'Extend 1 h', exact: true }).isVisible())
  await page.getByRole('button', { name: 'Extend 1 h', exact: true }).click(soon)
  await pass(at, 4800)
  // It stops only as many as needed.
  await passUntil(at, async () => (await running()) === 2)

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('stop everything')
  await page.keyboard.press('Enter')
  const question = page.getByRole('alertdialog')
  await question.getByText(/^Saves \$\d+\.\d+\/h\.$/).waitFor()
  await question.getByRole('button', { name: 'Stop 2 instances' }).click()
  await question.waitFor({ state: 'detached' })
  await passUntil(at, async () => (await running()) === 0)
})

/** Dollars per hour, all instances together. */
async function perHour({ sim }: Scene): Promise<number> {
  const { instances } = await sim.api<{ instances: { dph_total: number }[] }>('GET', '/api/v0/instances/')
  return instances.reduce((sum, { dph_total }) => sum + dph_total, 0)
}

test('a limit that also works asleep is switched off and on, and found in the palette', async ({ start }) => {
  const at = await scene(start, 1)
  const { page, ids } = at
  const [id = 0] = ids
  await newLimitOn(at, id)
  // One that is reached already would destroy it at once, which is asked about.
  await choose(page, 'When', 'At a total cost')
  await page.getByLabel('Cost since renting').fill('0.0001')
  await page.getByRole('radio', { name: 'Destroy', exact: true }).click()
  await page.getByText('Already reached. It acts at once.').waitFor(soon)
  await page.getByRole('button', { name: 'Set limit' }).click()
  await page.getByRole('alertdialog', { name: /^Destroy / }).waitFor(soon)
  await page.getByRole('button', { name: 'Cancel' }).last().click()
  await page.getByRole('radio', { name: 'Stop', exact: true }).click()
  await choose(page, 'When', 'After a number of hours')
  await page.getByLabel('After', { exact: true }).fill('2,5')
  await page.getByRole('switch', { name: 'Also while this computer sleeps' }).click()
  await page.getByRole('button', { name: 'Set limit' }).click()
  await page.getByRole('radio', { name: 'Watchdog', checked: true }).waitFor(soon)
  const rule = page.getByRole('switch', { name: /^Stops / })
  await rule.click()
  await page
    .getByRole('status')
    .getByText(/^No limit of this Berth stops it before its contract ends .*\.$/)
    .waitFor(soon)
  await rule.click()
  await page
    .getByRole('status')
    .getByText(/^Stops .*\d\d:\d\d\.$/)
    .waitFor(soon)

  await page.goto(`${page.url().split('#')[0]}#/offers`)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('next')
  const next = page.getByRole('option', { name: /^Next: stops .* at / })
  await next.waitFor()
  await next.click()
  await page.getByRole('button', { name: /^Change: Stops / }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('extend 12')
  await page.getByRole('option', { name: /^Extend 12 h: / }).waitFor()

  // The cell in the instance's row leads to its limits, whichever tab was open.
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: /^Watchdog: / }).click()
  await page.getByRole('tab', { name: 'Limits', selected: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('limits')
  await page.getByRole('option', { name: /^Limits / }).waitFor()
})
