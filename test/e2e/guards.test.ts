import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { MainMessage } from '../../electron/contract/bridge/messages.ts'
import { nextMorning } from '../morning.ts'
import { joinBerth } from '../page-client.ts'
import { connectAccount, rentRunning } from './account-steps.ts'
import type { Service } from './app.ts'
import { test } from './fixtures.ts'
import type { Start } from './start.ts'

const soon = { timeout: 60_000 }
/** Each leap of time takes two seconds here. */
vi.setConfig({ testTimeout: 360_000 })

interface Scene {
  sim: Service
  page: Page
  errors: string[]
  /** They run at the beginning. */
  ids: number[]
  /** Berth looks once, and the page has drawn what that showed. */
  seen(): Promise<void>
}

async function scene(start: Start, count: number): Promise<Scene> {
  // Its time goes on when the test says so, and next to none of it while the page is read, however busy the machine.
  const sim = await start.simulator({ speed: 1 })
  // A month that ends meanwhile would begin its budget anew.
  await sim.control('POST', '/sim/clock', { advance: (nextMorning() - Date.now()) / 1000 })
  await sim.control('POST', '/sim/credit', { credit: 100 })
  const ids: number[] = []
  for (let made = 0; made < count; made += 1) ids.push(await rentRunning(sim))
  const berth = await start.berth()
  const { page, errors } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, sim)
  await page.getByRole('row', { name: new RegExp(`#${ids[0]}`) }).waitFor()
  return { sim, page, errors, ids, seen: await openViewer(start, berth.address, page) }
}

async function stateOf({ sim }: Scene, id: number): Promise<string | null> {
  const { instances } = await sim.api<{ instances: { actual_status: string | null } }>(
    'GET',
    `/api/v0/instances/${id}/`,
  )
  return instances.actual_status
}

/**
 * Lets time pass in one leap, and Berth see it. Two looks follow, each so much later that Berth measures in between how
 * fast the account's time runs: else two leaps would be the pace of a faster world to it, by how long a look takes here.
 */
async function pass(at: Scene, seconds: number): Promise<void> {
  await at.sim.control('POST', '/sim/clock', { advance: seconds })
  await at.seen()
  for (let later = 0; later < 2; later += 1) {
    await wait(measured)
    await at.seen()
  }
}

/** Milliseconds: a little more than what Berth measures over (shortestMeasurement of the account's clock). */
const measured = 950

/** Lets minutes pass and the page show what they brought, until it is as wanted, for an hour at most. */
async function passUntil(at: Scene, wanted: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 24 && !(await wanted()); step += 1) await pass(at, 150)
  expect(await wanted()).toBe(true)
}

/**
 * Asks a Berth to look, beside its page, and waits until the look is over and the page has drawn what it showed: one
 * that has only begun may be told to the page when the moment that it warned of has passed already.
 */
async function openViewer(start: Start, address: string, page: Page): Promise<() => Promise<void>> {
  const socket = await joinBerth(address)
  start.atEnd(async () => socket.terminate())
  let call = 0
  return async () => {
    call += 1
    const mine = call
    const over = new Promise<void>(resolve => {
      socket.on('message', function hear(data) {
        const message: MainMessage = JSON.parse(String(data))
        if (!('call' in message) || message.call !== mine) return
        socket.off('message', hear)
        resolve()
      })
    })
    socket.send(JSON.stringify({ kind: 'command', call: mine, name: 'refresh', args: {} }))
    await over
    await page.evaluate(
      () => new Promise<void>(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn()))),
    )
  }
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByLabel(new RegExp(`^${label}: `)).click()
  await page.getByRole('option', { name: option }).click()
}

/** Opens the dialog in the instance's details, by its menu. */
async function newGuardOn({ page }: Scene, id: number): Promise<void> {
  await page.getByRole('link', { name: 'Instances' }).click()
  await page.getByRole('button', { name: new RegExp(`^More for .*#${id}`) }).click()
  await page.getByRole('menuitem', { name: 'Automation' }).click()
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('menuitem', { name: 'Stop it when…' }).click()
}

async function newGuardOnAccount({ page }: Scene): Promise<void> {
  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.getByRole('button', { name: 'Add guard…' }).click()
}

/** Sets what the dialog holds; gives the seconds until its moment, as the dialog says it. */
async function set(page: Page): Promise<number> {
  const preview = page
    .getByRole('status', { name: 'What will happen' })
    .and(page.locator('[aria-busy=false]'))
  const moment = /(?:, in|That is in) (?:(\d+) d ?)?(?:(\d+) h ?)?(?:(\d+) min)?/
  await expect.poll(() => preview.innerText(), soon).toMatch(moment)
  const [, days = 0, hours = 0, minutes = 0] = moment.exec(await preview.innerText()) ?? []
  await page.getByRole('button', { name: 'Set guard' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  return Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60
}

const halted = (at: Scene, id: number) => passUntil(at, async () => (await stateOf(at, id)) === 'stopped')

test('each kind is set on the page with its moment shown, warns on the row, is snoozed there, and acts', async ({
  start,
}) => {
  const at = await scene(start, 4)
  const { page, ids } = at
  const [timed = 0, lasting = 0, idle = 0, costly = 0] = ids
  const kinds: [number, string, string?, string?][] = [
    [timed, 'At a time'],
    [lasting, 'After a while', 'After', '2'],
    [costly, 'At a spending limit', 'It has cost', '9'],
  ]
  for (const [id, kind, label, value] of kinds) {
    await newGuardOn(at, id)
    await choose(page, 'When', kind)
    const typed = id === costly ? String(Math.ceil((await spent(at, id)) * 100 + 12) / 100) : value
    if (label && typed) await page.getByLabel(label, { exact: true }).fill(typed)
    // Short of the quarter of an hour that it warns ahead: what it has cost is known to the last look alone.
    await pass(at, (await set(page)) - 960)
    const keep = page.getByRole('button', { name: new RegExp(`^Keep running: .*#${id}`) })
    await passUntil(at, () => keep.isVisible())
    await page
      .getByRole('row', { name: /stops at \d/ })
      .filter({ has: keep })
      .waitFor()
    await keep.click(soon)
    await page.getByText('Snoozed', { exact: true }).waitFor()
    expect(await stateOf(at, id)).toBe('running')
    await pass(at, 4800)
    await halted(at, id)
    await page
      .getByText(/^Stopped .*#/)
      .first()
      .waitFor()
  }

  await newGuardOn(at, idle)
  await choose(page, 'When', 'When it is idle')
  await page.getByLabel('GPU load below').fill('100')
  await page.getByLabel('For', { exact: true }).fill('20')
  await set(page)
  const keep = page.getByRole('button', { name: new RegExp(`^Keep running: .*#${idle}`) })
  await passUntil(at, () => keep.isVisible())
  await page
    .getByRole('row', { name: /Idle since/ })
    .filter({ has: keep })
    .waitFor()
  await keep.click(soon)
  await page.getByText('Snoozed', { exact: true }).waitFor()
  expect(await stateOf(at, idle)).toBe('running')
  await pass(at, 3600)
  await halted(at, idle)
  expect(at.errors).toEqual([])
})

/** Dollars that the instance has cost so far. */
async function spent({ sim }: Scene, id: number): Promise<number> {
  const { instances } = await sim.control<{ instances: { instance_id: number; micro_dollars: number }[] }>(
    'GET',
    '/sim/ledger',
  )
  return (instances.find(({ instance_id }) => instance_id === id)?.micro_dollars ?? 0) / 1_000_000
}

test('a budget and the credit are guarded for the whole account, and everything stops with one question', async ({
  start,
}) => {
  const at = await scene(start, 3)
  const { sim, page, ids } = at
  const running = async () =>
    (await Promise.all(ids.map(id => stateOf(at, id)))).filter(state => state === 'running').length
  await newGuardOnAccount(at)
  await choose(page, 'When', 'When a month has cost so much')
  await page.getByLabel('One month has cost').fill('0.4')
  await pass(at, (await set(page)) - 960)
  await passUntil(at, () => page.getByRole('button', { name: 'Snooze 1 h' }).isVisible())
  await page.getByRole('button', { name: 'Snooze 1 h' }).click(soon)
  await page.getByText('Snoozed', { exact: true }).waitFor()
  await pass(at, 4800)
  for (const id of ids) await halted(at, id)
  await page.getByRole('button', { name: /^More: Stops everything/ }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await sim.control('POST', '/sim/credit', { credit: 110 * (await perHour(at)) })

  for (const id of ids) await sim.api('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
  await pass(at, 600)
  await passUntil(at, async () => (await running()) === 3)
  await page
    .getByText(/^4 d \d+ h$/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Add guard…' }).click()
  await choose(page, 'When', 'When the credit runs low')
  await page.getByLabel('The credit would last less than').fill('100')
  await pass(at, (await set(page)) - 960)
  await passUntil(at, () => page.getByRole('button', { name: 'Snooze 1 h' }).isVisible())
  await page.getByRole('button', { name: 'Snooze 1 h' }).click(soon)
  await pass(at, 4800)
  // It takes no more than it needs to.
  await passUntil(at, async () => (await running()) === 2)

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('stop everything')
  await page.keyboard.press('Enter')
  const question = page.getByRole('alertdialog')
  await question.getByText(/They cost \$\d+\.\d+\/h now/).waitFor()
  await question.getByRole('button', { name: 'Stop 2 instances' }).click()
  await question.waitFor({ state: 'detached' })
  await passUntil(at, async () => (await running()) === 0)
  expect(at.errors).toEqual([])
})

/** Dollars per hour, all instances together. */
async function perHour({ sim }: Scene): Promise<number> {
  const { instances } = await sim.api<{ instances: { dph_total: number }[] }>('GET', '/api/v0/instances/')
  return instances.reduce((sum, { dph_total }) => sum + dph_total, 0)
}

test('a guard is switched off and on, put on the instance too, and the palette leads to what is due next', async ({
  start,
}) => {
  const at = await scene(start, 1)
  const { page, ids } = at
  const [id = 0] = ids
  await newGuardOn(at, id)
  await choose(page, 'When', 'After a while')
  await page.getByLabel('After', { exact: true }).fill('2,5')
  await page.getByRole('switch', { name: 'Also while this computer sleeps' }).click()
  await page.getByRole('button', { name: 'Set guard' }).click()
  await page.getByRole('radio', { name: 'Also asleep', checked: true }).waitFor(soon)
  const rule = page.getByRole('switch', { name: /^Stops / })
  await rule.click()
  await page.getByText('Nothing happens by itself.').waitFor(soon)
  await rule.click()
  await page
    .getByRole('status')
    .getByText(/^Stops .*\d\d:\d\d\.$/)
    .waitFor(soon)

  await page.goto(`${page.url().split('#')[0]}#/offers`)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('next')
  const next = page.getByRole('option', { name: /^Next: stops .* at / })
  await next.waitFor()
  await next.click()
  await page.getByRole('button', { name: /^Change: Stops / }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('snooze for 12')
  await page.getByRole('option', { name: /^Snooze for 12 h: / }).waitFor()
})
