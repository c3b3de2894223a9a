import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SimulatorProcess, startSimulatorProcess } from '#test/berth/browser.ts'
import type { Berth } from '#test/berth/electron.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk({ of: 'the file' })
const soon = { timeout: 150_000 }
let sim: SimulatorProcess

beforeAll(async () => {
  sim = await startSimulatorProcess(['--speed', '1'])
  await desk.settings({ pollInterval: 2 })
})
afterAll(() => sim.stop())

let started: Berth | undefined
let connected = false

/** The Berth that all tests share; the last one ends it, and one that has ended is followed by a new one. */
async function open(): Promise<Berth> {
  if (started) return started
  const berth = await desk.start()
  started = berth
  connected = false
  void berth.ended.then(() => {
    started = undefined
  })
  return berth
}

/** Berth with a connected account and a new instance that it has seen running. */
async function startWith(body: Record<string, unknown> = {}): Promise<{ berth: Berth; instance: number }> {
  await sim.control('POST', '/sim/credit', { credit: 1000 })
  const instance = await rentRunning(sim, body)
  const berth = await open()
  const page = await berth.page()
  if (!connected) await connectAccount(page, sim)
  connected = true
  await page.getByRole('link', { name: 'Instances' }).click()
  const row = page.getByRole('row', { name: new RegExp(`${instance}`) })
  await row.filter({ hasText: 'Running' }).waitFor()
  return { berth, instance }
}

/** The requests to the service that change something. */
async function writes(): Promise<string[]> {
  const { requests } = await sim.control<{ requests: { method: string; path: string }[] }>(
    'GET',
    '/sim/requests',
  )
  const isPoll = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' || path === '/api/v0/bundles/'
  return requests.filter(request => !isPoll(request)).map(({ method, path }) => `${method} ${path}`)
}

async function place(berth: Berth): Promise<string> {
  return new URL((await berth.page()).url()).hash
}

test('a second start ends at once and shows the first one’s window, unless it is hidden', async () => {
  const berth = await open()
  await berth.closeToTray()
  expect(await berth.visible()).toBe(false)
  expect(await berth.startAgain('--hidden')).toBe(0)
  expect(await berth.visible()).toBe(false)
  expect(await berth.startAgain()).toBe(0)
  await expect.poll(() => berth.visible()).toBe(true)
  await (await berth.page()).getByText('This is the demo market.').waitFor()
})

test('a link shows its place, a terminal link asks first, and a bad link does nothing', async () => {
  const { berth, instance } = await startWith()
  const page = await berth.page()
  const before = await writes()
  const follow = async (link: string) => {
    await berth.closeToTray()
    expect(await berth.startAgain(link), link).toBe(0)
    await expect.poll(() => berth.visible(), { message: link }).toBe(true)
  }

  await follow('berth://offers?gpu=RTX%204090&max=2')
  await expect.poll(() => place(berth)).toBe('#/offers')
  await follow(`berth://instance/${instance}`)
  await expect.poll(() => place(berth)).toMatch(new RegExp(`^#/instances/${instance}`))
  await follow(`berth://instance/${instance}/terminal`)
  const question = page.getByRole('dialog').or(page.getByRole('alertdialog'))
  await question.waitFor()
  expect(await page.locator('.xterm').count()).toBe(0)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await follow('berth://settings')
  await expect.poll(() => place(berth)).toBe('#/settings')

  // The desktop of macOS passes a link on in this way.
  await berth.closeToTray()
  await berth.look(
    ({ app }, link) => app.emit('open-url', { preventDefault: () => undefined }, link),
    `berth://instance/${instance}`,
  )
  await berth.shown()
  await expect.poll(() => place(berth)).toMatch(new RegExp(`^#/instances/${instance}`))
  await follow('berth://settings')
  await expect.poll(() => place(berth)).toBe('#/settings')

  const bad = [
    `berth://instance/${instance}/destroy`,
    `berth://instance/${instance}?state=destroyed`,
    `berth://instance/${instance + 1000}`,
  ]
  for (const link of bad) {
    await berth.closeToTray()
    expect(await berth.startAgain(link), link).toBe(0)
    await expect.poll(() => berth.visible(), { message: link }).toBe(true)
    expect(await place(berth), link).toBe('#/settings')
    expect(await page.getByRole('dialog').count(), link).toBe(0)
  }
  await expect.poll(desk.titles, soon).toContain('Berth doesn’t know this link')
  expect(await writes()).toEqual(before)
  expect(berth.errors).toEqual([])
})

test('clicking a notification shows its instance; its button opens the bid dialog', async () => {
  const { berth, instance } = await startWith({ price: 5, label: 'train' })
  await berth.closeToTray()
  await sim.control('POST', '/sim/outbid', { instance_id: instance })
  const outbid = `train #${instance} was outbid`
  await expect.poll(desk.titles, soon).toContain(outbid)
  const at = desk.titles().indexOf(outbid)
  // The other buttons lead to Berth, too.
  expect(desk.notices.shown[at]).toMatchObject({ click: '', actions: ['Raise bid', 'Show'] })
  expect((await readFile(desk.notices.shown[at]?.picture ?? '')).subarray(1, 4).toString()).toBe('PNG')
  desk.notices.click(at)
  await expect.poll(() => berth.visible()).toBe(true)
  await expect.poll(() => place(berth)).toMatch(new RegExp(`^#/instances/${instance}`))
  const page = await berth.page()
  await page
    .getByRole('row', { name: new RegExp(`${instance}`) })
    .getByText('Outbid', { exact: true })
    .waitFor()

  const other = await startWith({ price: 5, label: 'test' })
  await berth.closeToTray()
  await sim.control('POST', '/sim/outbid', { instance_id: other.instance })
  const otherOutbid = `test #${other.instance} was outbid`
  await expect.poll(desk.titles, soon).toContain(otherOutbid)
  desk.notices.press(desk.titles().indexOf(otherOutbid), 'Raise bid')
  await expect.poll(() => berth.visible()).toBe(true)
  const question = page.getByRole('dialog', { name: /^Change bid for test/ })
  await question.getByRole('button', { name: 'Cancel' }).click()
})

test('quitting from the tray names text that is not saved, until it is discarded', async () => {
  const { berth } = await startWith()
  const page = await berth.page()
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('button', { name: 'New template' }).click()
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('Trainer')
  await berth.closeToTray()
  const detail = async () => {
    await berth.quit()
    await expect.poll(() => berth.questions()).toHaveLength(1)
    const [asked] = await berth.questions()
    await berth.answer('Cancel')
    return asked?.detail
  }
  await expect.poll(detail).toContain('Unsaved changes in a window are lost')
  await desk.panel.icons.click()
  await expect.poll(() => berth.visible()).toBe(true)
  await page.getByRole('button', { name: 'Templates' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await expect.poll(detail).not.toContain('Unsaved changes')
  expect(await berth.startAgain()).toBe(0)
})

test('quitting while an instance runs names its cost, and ends only Berth', async () => {
  const { berth, instance } = await startWith()
  await berth.quit()
  await expect.poll(() => berth.questions()).toHaveLength(1)
  const [asked] = await berth.questions()
  expect(asked?.message).toMatch(/^\d+ instances? keeps? costing \$\d+\.\d+\/h$/)
  expect(asked?.detail).toContain(`#${instance}: Running, $`)
  expect(asked?.buttons).toEqual(['Quit', 'Keep in tray', 'Cancel'])
  await berth.answer('Cancel')
  expect(await berth.visible()).toBe(true)

  await berth.quit()
  await expect.poll(() => berth.questions()).toHaveLength(1)
  await berth.answer('Keep in tray')
  await expect.poll(() => berth.visible()).toBe(false)
  await (await berth.page()).getByRole('row', { name: new RegExp(`${instance}`) }).waitFor()

  await desk.panel.icons.clickMenu(['Quit Berth…'])
  await expect.poll(() => berth.questions()).toHaveLength(1)
  await berth.answer('Quit').catch(() => undefined)
  expect(await berth.ended).toBe(0)
  const { instances } = await sim.api<{ instances: { actual_status: string } }>(
    'GET',
    `/api/v0/instances/${instance}/`,
  )
  expect(instances.actual_status).toBe('running')
})
