import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import type { MenuEntry } from '../panel.ts'
import { showSingleGpus } from './job.ts'

const desk = useDesk()
const soon = { timeout: 150_000 }

const entries = async () => (await desk.panel.icons.menu()) ?? []
const labels = async () => (await entries()).map(({ label }) => label)
const clickMenu = (...path: string[]) => desk.panel.icons.clickMenu(path)
const copied = (berth: Berth) => berth.look(({ clipboard }) => clipboard.readText())
const place = (page: Page) => new URL(page.url()).hash

/** The tray's entry of the only instance. */
async function instanceEntry(): Promise<MenuEntry | undefined> {
  return (await entries()).find(({ label }) => /#\d+:/.test(label))
}

/** Index of an offer on a stable host, since the cheapest two are on a host that will go offline. */
const sound = 2

/** Rents an offer of one GPU by its index in the list. `unlimited`: without the limit that a first rental has. */
async function rentOne(
  page: Page,
  { at = sound, kind = 'On-demand', unlimited = false } = {},
): Promise<void> {
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText(kind, { exact: true }).click()
  await showSingleGpus(page)
  await page
    .getByRole('button', { name: /^Rent 1 ×/ })
    .nth(at)
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  if (unlimited) await dialog.getByRole('button', { name: '8 h', exact: true }).click()
  await dialog.getByRole('button', { name: /^Rent/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('every entry of the tray works', async () => {
  const berth = await desk.start('--speed', '200')
  const page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
  /** Clicks an entry with the window closed, which must show the window. */
  const clickClosed = async (...path: string[]) => {
    await berth.closeToTray()
    await clickMenu(...path)
    await expect.poll(() => berth.visible(), { message: path.join(' > ') }).toBe(true)
  }

  await expect.poll(async () => (await labels())[1], soon).toMatch(/^Credit \$/)
  const [demo, credit, spend] = await entries()
  expect([demo?.enabled, credit?.enabled, spend?.enabled]).toEqual([false, false, false])
  expect(spend?.label).toBe('Nothing running, $0.000/h')

  await berth.closeToTray()
  await expect.poll(desk.titles, soon).toContain('Berth stays in the tray')
  await desk.panel.icons.click()
  await expect.poll(() => berth.visible()).toBe(true)
  await clickClosed('Open Berth')
  await clickClosed('Rent a GPU…')
  await expect.poll(() => place(page)).toBe('#/offers')

  await rentOne(page, { unlimited: true })
  await expect.poll(async () => (await instanceEntry())?.label, soon).toContain(': Running')
  const name = (await instanceEntry())?.label.split(':')[0] ?? ''
  const id = name.split('#')[1] ?? ''
  const submenu = async () => (await instanceEntry())?.submenu?.map(({ label }) => label) ?? []

  await clickClosed(name, 'Terminal')
  await expect.poll(() => place(page)).toBe(`#/instances/${id}/terminal`)
  await expect.poll(() => terminalText(page), soon).toContain('root@')
  await clickClosed(name, 'Files')
  await expect.poll(() => place(page)).toBe(`#/instances/${id}/files`)
  await clickClosed(name, 'Ports')
  await expect.poll(() => place(page)).toBe(`#/instances/${id}/ports`)
  await clickClosed(name, 'Set a limit…')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await clickClosed(name, 'Show')
  await expect.poll(() => place(page)).toMatch(new RegExp(`^#/instances/${id}`))
  await clickClosed(name, 'Destroy…')
  const question = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await question.getByRole('button', { name: 'Cancel' }).click()

  await clickMenu(name, 'Copy SSH command')
  await expect.poll(() => copied(berth), soon).toMatch(/^ssh .*root@127\.0\.0\.1/)
  await expect.poll(desk.titles, soon).toContain('Copied')
  await clickMenu(name, 'Jupyter')
  await expect.poll(() => desk.opened(), soon).toHaveLength(1)
  await clickMenu(name, 'Editor')
  await expect.poll(desk.titles, soon).toContain(`Could not open an editor on ${name}`)

  const undo = `Undo the stop of ${name}`
  await clickMenu(name, 'Stop')
  await expect.poll(labels, soon).toContain(undo)
  await expect.poll(desk.titles, soon).toContain(`Stopping ${name}`)
  await clickMenu(undo)
  await expect.poll(submenu, soon).toContain('Stop')
  await clickMenu(name, 'Stop')
  await expect.poll(submenu, soon).toContain('Start')
  // It has no limit, so the page asks for one; with one, pausing would ask, too.
  await clickClosed(name, 'Start')
  await page.getByRole('dialog').getByRole('button', { name: 'Start without a limit' }).click()
  await expect.poll(submenu, soon).toContain('Stop')

  await clickMenu('Pause Berth for 1 h')
  await expect.poll(() => labels()).toContainEqual(expect.stringMatching(/^Monitoring is paused until/))
  const tooltip = async () => JSON.stringify(await desk.panel.icons.property('ToolTip'))
  await expect.poll(tooltip).toContain('Paused until')
  await clickMenu('Resume Berth')
  await expect.poll(() => labels()).toContain('Pause Berth for 1 h')

  const query = { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 50 }
  await berth.command('saveSearch', { name: 'R&D', search: { query, filter: {} } })
  await expect.poll(() => labels()).toContain('Saved searches')
  await clickClosed('Saved searches', 'R&D')
  await expect.poll(() => place(page)).toBe('#/offers')

  const again = (await labels()).find(label => label.endsWith(' again…')) ?? ''
  await clickClosed(again)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  // Berth quits without a question, because the demo costs nothing.
  await clickMenu('Quit Berth').catch(() => undefined)
  expect(await berth.ended).toBe(0)
  expect(berth.errors).toEqual([])
})

test('Start asks first if a limit would stop the instance again at once', async () => {
  const berth = await desk.start('--speed', '60')
  const page = await berth.page()
  await rentOne(page, { unlimited: true })
  await expect.poll(async () => (await instanceEntry())?.label, soon).toContain(': Running')
  const name = (await instanceEntry())?.label.split(':')[0] ?? ''
  const submenu = async () => (await instanceEntry())?.submenu?.map(({ label }) => label) ?? []
  await clickMenu(name, 'Stop')
  await expect.poll(submenu, soon).toContain('Start')
  const when = { kind: 'credit', hours: 8000 }
  await berth.command('setLimit', { when, action: 'stop', warning: 0, missed: 'act' })
  await page.getByRole('link', { name: 'Activity' }).click()
  await page.getByText('Set a limit').first().waitFor()

  await berth.closeToTray()
  await clickMenu(name, 'Start')
  await expect.poll(() => berth.visible()).toBe(true)
  const question = page.getByRole('dialog', { name: /^Start .*\?$/ })
  await question.getByRole('button', { name: 'Start anyway' }).waitFor()
  expect(await submenu()).toContain('Start')
  await question.getByRole('button', { name: 'Extend 1 h and start' }).click()
  await question.waitFor({ state: 'detached' })
  await expect.poll(submenu, soon).toContain('Stop')
})

test('the tray’s demo events change the demo', async () => {
  const berth = await desk.start('--speed', '40')
  const page = await berth.page()
  const happens = (event: string) => clickMenu('Simulate an event', event)
  /** The states in the instances' entries, sorted. */
  const states = async () =>
    (await labels()).flatMap(label => /#\d+: ([^,]+)/.exec(label)?.[1] ?? []).toSorted()

  await rentOne(page)
  await rentOne(page)
  await expect.poll(states, soon).toEqual(['Running', 'Running'])
  const rows = page.getByRole('row').filter({ has: page.getByRole('button', { name: /^More/ }) })
  const demo = async () => (await berth.state()).accounts['demo'] ?? expect.fail('no demo')
  const before = await demo()
  await happens('An hour passes')
  const paid = async () => (before.credit ?? 0) - ((await demo()).credit ?? 0)
  await expect.poll(paid, soon).toBeGreaterThan(0.9 * before.spendPerHour)

  await happens('A container crashes')
  await expect.poll(states, soon).toEqual(['Crashed', 'Running'])
  await happens('A host goes offline')
  await expect.poll(states, soon).toEqual(['Crashed', 'Offline'])
  await rows.getByText('Offline', { exact: true }).waitFor()

  await rentOne(page, { at: 4, kind: 'Interruptible' })
  await expect.poll(states, soon).toEqual(['Crashed', 'Offline', 'Running'])
  await happens('Get outbid')
  await expect.poll(states, soon).toEqual(['Crashed', 'Offline', 'Outbid'])
  await rows.getByText('Outbid', { exact: true }).waitFor()

  const creditIs = (wanted: (dollars: number) => boolean) =>
    expect
      .poll(async () => {
        const line = (await labels()).find(label => label.startsWith('Credit $')) ?? ''
        return wanted(Number(/\$([\d.]+)/.exec(line)?.[1]))
      }, soon)
      .toBe(true)
  await happens('The credit runs low')
  await creditIs(dollars => dollars < 5)
  await happens('Credit is added')
  await creditIs(dollars => dollars > 10)
  expect(berth.errors).toEqual([])
})
