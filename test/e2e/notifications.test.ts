import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Service } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { lacks } from '../needs.ts'
import { connectAccount, openPolling, rentRunning } from './account-steps.ts'
import { type Desktop, startDesktop } from './desktop.ts'

let sim: Service
let desktop: Desktop
const lacking = lacks('chromium', 'dbus-daemon', 'Xvfb', 'dunst', 'dunstctl', 'gnome-keyring-daemon')

/** A desktop with notifications and a keychain, and a simulator at real speed. */
async function prepare(start: Start): Promise<{ home: string }> {
  sim = await start.simulator({ speed: 1 })
  desktop = await startDesktop()
  start.atEnd(() => desktop.end())
  const { session } = desktop
  session.start('gnome-keyring-daemon', ['--unlock', '--foreground', '--components=secrets'], 'password')
  const home = await start.folder()
  const nothing = () => session.run('secret-tool', ['lookup', 'service', 'no-such-service'])
  await expect.poll(nothing).toEqual({ code: 1, output: '' })
  return { home }
}

interface Opened {
  page: Page
  /** Waits until Berth has polled the account twice more and handled the results. */
  twoMorePolls(): Promise<void>
  end(): Promise<void>
}

async function openBerth(start: Start, home: string): Promise<Opened> {
  const { home: runtime, env } = desktop.session
  const berth = await start.berth({
    home,
    env: { DBUS_SESSION_BUS_ADDRESS: env['DBUS_SESSION_BUS_ADDRESS'] ?? '', XDG_RUNTIME_DIR: runtime },
  })
  const { page } = await start.page(berth.address)
  const polled = await openPolling(start, berth.address)
  return {
    page,
    async twoMorePolls() {
      const before = await polls()
      for (let poll = 0; poll < 3; poll += 1) await polled()
      // Polls do not overlap: when the third begins, the second is handled.
      await expect.poll(polls, { timeout: 150_000, interval: 200 }).toBeGreaterThanOrEqual(before + 3)
    },
    async end() {
      await page.context().close()
      await berth.stop()
    },
  }
}

async function polls(): Promise<number> {
  const { requests } = await sim.control<{ requests: { method: string; path: string }[] }>(
    'GET',
    '/sim/requests',
  )
  return requests.filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v0/instances/'))
    .length
}

async function titles(): Promise<string[]> {
  return (await desktop.shown()).map(({ title }) => title)
}

const soon = { timeout: 150_000 }

describe.skipIf(lacking !== '')(`notifications on the desktop${lacking}`, () => {
  test('being outbid is notified once; a click opens the instance, a button its bid', async ({ start }) => {
    const { home } = await prepare(start)
    const label = '<b>&"'
    const id = await rentRunning(sim, { price: 5, label })
    const other = await rentRunning(sim, { price: 5, label: 'other' })
    await sim.control('POST', '/sim/credit', { credit: 1000 })
    const first = await openBerth(start, home)
    await connectAccount(first.page, sim)
    await first.page.getByRole('row', { name: /other/ }).waitFor()
    await first.page.getByRole('link', { name: 'Offers' }).click()

    await sim.control('POST', '/sim/outbid', { instance_id: id })
    await expect.poll(titles, soon).toEqual([`${label} #${id} was outbid`])
    expect((await desktop.shown())[0]).toMatchObject({
      urgency: 'CRITICAL',
      body: expect.stringMatching(/^Your bid \$\d+\.\d{3}\/h, minimum now \$\d+\.\d{3}\/h\. Files are kept/),
    })
    await first.twoMorePolls()
    expect(await titles()).toHaveLength(1)

    await desktop.click()
    await expect.poll(() => first.page.url(), soon).toContain(`#/instances/${id}`)
    const row = first.page.getByRole('row', { name: new RegExp(`#?${id}`) })
    await row.getByText('Outbid', { exact: true }).waitFor()
    const [drawn] = await desktop.drawn()
    expect(drawn).toContain('&lt;b&gt;&amp;&quot; #')

    await sim.control('POST', '/sim/outbid', { instance_id: other })
    await expect.poll(titles, soon).toHaveLength(2)
    await desktop.press('Raise bid')
    await first.page.getByRole('dialog', { name: /^Change bid for other/ }).waitFor()

    await first.end()
    await (await openBerth(start, home)).twoMorePolls()
    expect(await titles()).toHaveLength(2)
  })
})
