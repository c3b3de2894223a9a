import { join } from 'node:path'
import { afterEach, beforeEach, type ExpectStatic, expect, type TestContext } from 'vitest'
import type { MainMessage } from '../../../electron/contract/bridge/messages.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { State } from '../../../electron/contract/state.ts'
import type { SeenItem } from '../../electron/double/menu.ts'
import type { Remote } from '../../electron/double/remote.ts'
import { startUnderDouble, type UnderDouble } from '../../electron/start-under-double.ts'
import { startSession, type TestSession } from '../local/session-bus.ts'
import { startTrayWatcher, type TrayWatcher } from '../local/tray-watcher.ts'

/** The built main process under the double of Electron, with the test as the page. */
export interface Shell {
  readonly session: TestSession
  readonly process: UnderDouble
  ask: <Name extends keyof Remote>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ) => Promise<Awaited<ReturnType<Remote[Name]>>>
  /** From here on the desktop has a tray watcher, by default with a panel that shows icons. */
  offerTray(shows?: boolean): Promise<TrayWatcher>
  /** Starts Berth and waits for its window. */
  start(...flags: string[]): Promise<void>
  /** Starts Berth and does not wait for its window. */
  startAlone(...flags: string[]): Promise<void>
  /** Sends a command as the page does, and waits for its answer. */
  command(name: string, args: unknown): Promise<unknown>
  messages(): Promise<MainMessage[]>
  /** The whole State, as a page gets it on a sync. */
  state(): Promise<State>
  menu(): Promise<SeenItem[]>
  /**
   * Rents the most reliable offer of the shown account and waits until the instance runs, for which the account is
   * refreshed unless that is left to Berth.
   */
  rentOne(how?: { refresh: boolean }): Promise<InstanceView>
}

/** Gives each test of a file a desktop session and a Berth of its own. */
export function useShell(): Shell {
  const { shell, begin, end } = createShell(expect)
  beforeEach(begin)
  afterEach(end)
  return shell
}

/** A desktop session and a Berth of this test alone, for tests that run at the same time. */
export async function openShell({ expect, onTestFinished }: TestContext): Promise<Shell> {
  const { shell, begin, end } = createShell(expect)
  onTestFinished(end)
  await begin()
  return shell
}

/** `expect` is the test's own, which `expect.poll` needs where several tests run. */
function createShell(expect: ExpectStatic) {
  let session: TestSession
  let watcher: TrayWatcher | undefined
  let berth: UnderDouble | undefined
  let call = 0

  async function begin(): Promise<void> {
    session = await startSession({ BERTH_HOME: '' })
    session.env['BERTH_HOME'] = join(session.home, 'home')
    session.env['TMPDIR'] = session.home
  }
  async function end(): Promise<void> {
    berth?.kill()
    watcher?.end()
    watcher = undefined
    await session.end()
  }

  const shell: Shell = {
    get session() {
      return session
    },
    get process() {
      if (berth === undefined) throw new Error('it was not started')
      return berth
    },
    ask: (name, ...args) => shell.process.ask(name, ...args),
    async offerTray(shows = true) {
      watcher = await startTrayWatcher(session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '', shows)
      return watcher
    },
    async start(...flags) {
      await shell.startAlone(...flags)
      await expect.poll(() => shell.ask('windows'), { timeout: 45_000 }).toMatchObject([{ visible: true }])
    },
    async startAlone(...flags) {
      berth?.kill()
      berth = await startUnderDouble(session.env, ['--demo', ...flags])
    },
    async command(name, args) {
      const mine = ++call
      await shell.ask('post', { kind: 'command', call: mine, name, args })
      let answer: MainMessage | undefined
      await expect
        .poll(
          async () => {
            answer = (await shell.messages()).find(message => 'call' in message && message.call === mine)
            return answer?.kind
          },
          { timeout: 45_000 },
        )
        .toBe('answer')
      return answer?.kind === 'answer' ? answer.answer : undefined
    },
    async messages() {
      return ((await shell.ask('sent')) as [string, MainMessage][]).map(([, message]) => message)
    },
    async state() {
      const before = (await shell.messages()).length
      await shell.ask('post', { kind: 'sync' })
      let found: State | undefined
      await expect
        .poll(async () => {
          const whole = (await shell.messages()).slice(before).find(message => message.kind === 'state')
          found = whole?.kind === 'state' ? whole.state : undefined
          return found !== undefined
        })
        .toBe(true)
      if (found === undefined) throw new Error('no state')
      return found
    },
    menu: async () => (await shell.ask('tray'))?.menu ?? [],
    async rentOne({ refresh } = { refresh: true }) {
      const { offers } = (await shell.command('searchOffers', {
        query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 50 },
      })) as { offers: { id: number; reliability?: number }[] }
      const [best] = offers.toSorted((a, b) => (b.reliability ?? 0) - (a.reliability ?? 0))
      const asked = { image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [] }
      await shell.command('rent', { request: { offer: best?.id, ...asked } })
      let rented: InstanceView | undefined
      await expect
        .poll(
          async () => {
            if (refresh) await shell.command('refresh', {})
            const { accounts, shown } = await shell.state()
            rented = Object.values(accounts[shown ?? '']?.instances ?? {})[0]
            return rented?.state
          },
          { timeout: 60_000 },
        )
        .toBe('running')
      if (rented === undefined) throw new Error('nothing was rented')
      return rented
    },
  }
  return { shell, begin, end }
}
