import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import { type LoginManager, startLoginManager } from '../login-manager.ts'

const desk = useDesk()
let sim: Simulator | undefined
let logins: LoginManager | undefined
afterEach(async () => {
  await sim?.close()
  logins?.end()
  sim = undefined
  logins = undefined
})

/** Whether the lock of Berth's folder is gone, which Berth releases last. */
const hasEndedInOrder = async () => (await readdir(desk.home)).every(name => !name.startsWith('lock-'))

/** Berth with an account that is not the demo and a running instance, so that quitting asks. */
async function startWithInstance(): Promise<Berth> {
  sim = await startSimulator({ port: 0, seed: 7, speed: 200, offers: 200, calm: true })
  await desk.settings({ pollInterval: 2 })
  const berth = await desk.start()
  await berth.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  const query = { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 50 } as const
  const { offers } = await (await berth.connection()).command('searchOffers', { query })
  const [best] = offers.toSorted((a, b) => (b.reliability ?? 0) - (a.reliability ?? 0))
  const request = { image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [] } as const
  await berth.command('rent', { request: { offer: best?.id ?? 0, ...request } })
  const states = async () => {
    const { accounts, shown = '' } = await berth.state()
    return Object.values(accounts[shown]?.instances ?? {}).map(({ state }) => state)
  }
  await expect.poll(states).toEqual(['running'])
  return berth
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s quits Berth in order without asking',
  async signal => {
    const berth = signal === 'SIGTERM' ? await startWithInstance() : await desk.start()
    await berth.connection()
    berth.signal(signal)
    expect(await berth.ended).toBe(0)
    expect(await hasEndedInOrder()).toBe(true)
  },
)

test('Berth sends what waits before sleep, polls after it, and shutdown waits until it has quit', async () => {
  logins = await startLoginManager(desk.session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')
  desk.session.env['DBUS_SYSTEM_BUS_ADDRESS'] = desk.session.env['DBUS_SESSION_BUS_ADDRESS']
  const berth = await startWithInstance()
  await expect.poll(() => logins?.inhibited()).toContain('sleep')
  await berth.command('changeSettings', { settings: { pollInterval: 300 } })
  const service = `${sim?.baseUrl}/sim/requests`
  const polls = async () => ((await (await fetch(service)).json()) as { requests: object[] }).requests.length
  // The timer of a stop that can be undone doesn't come.
  await berth.act(() => {
    const { setTimeout: later } = globalThis
    Object.assign(globalThis, {
      setTimeout: (run: () => void, wait: number) => later(run, wait === 5000 ? 2 ** 30 : wait),
    })
  })
  const { accounts, shown = '' } = await berth.state()
  const [instance] = Object.keys(accounts[shown]?.instances ?? {}).map(Number)
  void berth.command('actSoon', { instance: instance ?? 0, action: 'stop' })
  const waiting = async () => Object.keys((await berth.state()).accounts[shown]?.undoable ?? {})
  await expect.poll(waiting).toEqual([`${instance}`])
  logins.sleeps(true)
  await expect.poll(waiting).toEqual([])
  const before = await polls()
  logins.sleeps(false)
  await expect.poll(polls).toBeGreaterThan(before)

  expect(logins.inhibited()).toContain('shutdown')
  logins.shutsDown()
  expect(await berth.ended).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
})

test('a macOS update closes the window without asking and quits in order', async () => {
  const berth = await startWithInstance()
  const page = await berth.page()
  await page.locator('body').click({ position: { x: 5, y: 5 } })
  await page.evaluate(() => addEventListener('beforeunload', event => event.preventDefault()))
  // As `AutoUpdater::QuitAndInstall` does there: it tells, closes all windows, and quits once they are closed.
  await berth.act(({ app, autoUpdater, BrowserWindow }) => {
    autoUpdater.emit('before-quit-for-update')
    for (const window of BrowserWindow.getAllWindows()) {
      window.once('closed', () => app.quit())
      window.close()
    }
  })
  expect(await berth.ended).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
})

test('the end of a Windows session quits Berth in order', async () => {
  const berth = await startWithInstance()
  await berth.act(({ BrowserWindow }) => {
    for (const window of BrowserWindow.getAllWindows()) (window as NodeJS.EventEmitter).emit('session-end')
  })
  expect(await berth.ended).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
})

test.each(['error', 'rejection'] as const)(
  'an uncaught %s is logged and shown, and quits Berth in order',
  async how => {
    const berth = await desk.start()
    const box = join(desk.session.home, 'box')
    await berth.act(
      async ({ dialog }, [how, box]) => {
        // A copy, since the evaluated function finds no imports.
        const { writeFileSync } = process.getBuiltinModule('node:fs')
        dialog.showErrorBox = (title, words) => writeFileSync(box, `${title}\n${words}`)
        const error = new Error('nobody catches this')
        if (how === 'rejection') void Promise.reject(error)
        else
          setImmediate(() => {
            throw error
          })
      },
      [how, box] as const,
    )
    expect(await berth.ended).toBe(1)
    expect(await hasEndedInOrder()).toBe(true)
    expect(await readFile(box, 'utf8')).toMatch(/^Berth had to close\nAn unexpected error closed Berth/)
    expect(await readFile(join(desk.home, 'logs/berth.log'), 'utf8')).toContain('uncaughtException: Error')
  },
)

test('without a tray closing asks before it ends Berth; quitting twice asks once', async () => {
  desk.panel.showIcons(false)
  const berth = await startWithInstance()
  await berth.close()
  await expect
    .poll(() => berth.questions())
    .toMatchObject([{ buttons: ['Quit', 'Cancel'], enter: 'Cancel', escape: 'Cancel' }])
  await berth.quit()
  expect(await berth.questions()).toHaveLength(1)
  await berth.answer('Cancel')
  expect(await berth.visible()).toBe(true)
  await berth.quit()
  await expect.poll(() => berth.questions()).toHaveLength(1)
  await berth.answer('Quit')
  expect(await berth.ended).toBe(0)
})
