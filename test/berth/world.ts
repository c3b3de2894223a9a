import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base } from 'vitest'
import type { Answer, Args, CommandName } from '#contract/commands.ts'
import { type BerthOptions, startBerth } from '#core/berth.ts'
import type { RunningBerth } from '#core/running.ts'
import type { Platform } from '#platform/platform.ts'
import type { AccountView, State } from '#shared/state.ts'
import type { LoggedRequest } from '#simulator/http/request-log.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '#simulator/simulator.ts'
import { type Calls, callsOf } from './calls.ts'
import { hurriedClock } from './clocks.ts'
import { silentLog, testKeychain, testMachine, testNotifier } from './machine.ts'

export interface BerthUnderTest {
  berth: RunningBerth
  /** Runs a command and gives its answer. */
  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Answer<Name>>
  account(): AccountView
  /** Resolves once State is as wanted; rejects when it is not within so many milliseconds. */
  until(wanted: (state: State) => boolean, within?: number): Promise<State>
  /** Polls the account so many times. */
  poll(times?: number): Promise<void>
  /** The texts in Activity. */
  texts(): string[]
  close(): Promise<void>
}

export interface World extends Calls {
  sim: Simulator
  platform: Platform
  keychain: ReturnType<typeof testKeychain>
  notifier: ReturnType<typeof testNotifier>
  /** Starts Berth on this world's files, as often as wanted. */
  start(options?: Partial<BerthOptions>): Promise<BerthUnderTest>
  /** Starts Berth, connects the simulator's account, or one of another service, and waits for the first answer. */
  startConnected(baseUrl?: string, key?: string): Promise<BerthUnderTest>
  /** Ends that Berth, starts it again on its files, and waits until the service answers. */
  restart(under: BerthUnderTest): Promise<BerthUnderTest>
  /** The requests that the service got by that method, to paths with that text. */
  requests(method: string, path: string | RegExp): LoggedRequest[]
  /** The titles of the desktop's notifications. */
  titles(): string[]
  /** Advances the world and the wall clock, as a sleep does. */
  sleep(seconds: number): Promise<void>
  close(): Promise<void>
}

/** A simulator, and a machine for Berth with an empty home. */
export async function createWorld(options: SimulatorOptions = {}): Promise<World> {
  const clock = hurriedClock()
  const sim = await startSimulator({
    ...{ port: 0, seed: 44, speed: 60, offers: 200, calm: true, limitClock: clock.monotonic },
    ...options,
  })
  const home = await mkdtemp(join(tmpdir(), 'berth-test-'))
  const keychain = testKeychain()
  const notifier = testNotifier()
  const platform = await testMachine(home, { clock, keychain, notifier })
  const running = new Set<BerthUnderTest>()

  async function start(more: Partial<BerthOptions> = {}): Promise<BerthUnderTest> {
    const berth = await startBerth({
      log: silentLog,
      platform,
      app: { version: 'test', shell: 'browser' },
      ...more,
    })
    const under: BerthUnderTest = {
      berth,
      run: (name, args) => berth.dispatch(name, args) as Promise<never>,
      account() {
        const { shown, accounts } = berth.state()
        const account = shown === undefined ? undefined : accounts[shown]
        if (!account) throw new Error('no account is shown')
        return account
      },
      until: (wanted, within = 150_000) => until(berth, wanted, within),
      async poll(times = 1) {
        for (let poll = 0; poll < times; poll += 1) await berth.dispatch('refresh', {})
      },
      texts: () => Object.values(berth.state().activity).map(({ text }) => text),
      async close() {
        running.delete(under)
        await berth.close()
      },
    }
    running.add(under)
    return under
  }

  return {
    sim,
    platform,
    keychain,
    notifier,
    start,
    async startConnected(baseUrl = sim.baseUrl, key = sim.apiKey) {
      const under = await start()
      await under.run('changeSettings', { settings: { pollInterval: 2 } })
      await under.run('connectAccount', { baseUrl, key })
      return online(under)
    },
    async restart(under) {
      await under.close()
      return online(await start())
    },
    ...callsOf(sim.baseUrl, sim.apiKey),
    requests: (method, path) =>
      sim.controls
        .requests()
        .filter(
          each =>
            each.method === method &&
            (typeof path === 'string' ? each.path.includes(path) : path.test(each.path)),
        ),
    titles: () => notifier.shown.map(({ title }) => title),
    async sleep(seconds) {
      clock.sleeps(seconds)
      await sim.controls.advance(seconds)
    },
    async close() {
      await Promise.all([...running].map(under => under.close()))
      await sim.close()
      // Files of gone instances may still be being written.
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

async function online(under: BerthUnderTest): Promise<BerthUnderTest> {
  await under.until(() => under.account().connection.status === 'online')
  return under
}

function until(berth: RunningBerth, wanted: (state: State) => boolean, within: number): Promise<State> {
  return new Promise((resolve, reject) => {
    const stop = berth.onChange(check)
    const timer = setTimeout(() => {
      stop()
      // Runs come first, since the rest may be cut off.
      const accounts = Object.values(berth.state().accounts).map(({ runs, ...rest }) => ({ runs, ...rest }))
      reject(new Error(`State did not become as wanted: ${JSON.stringify(accounts).slice(0, 4000)}`))
    }, within)
    function check(): void {
      if (!wanted(berth.state())) return
      clearTimeout(timer)
      stop()
      resolve(berth.state())
    }
    check()
  })
}

/** A test that opens worlds; they are closed as it ends, also when others run at the same time. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  .extend('openWorld', async ({}, { onCleanup }) => {
    const opened: World[] = []
    onCleanup(async () => void (await Promise.all(opened.map(world => world.close()))))
    return async (...options: Parameters<typeof createWorld>): Promise<World> => {
      const world = await createWorld(...options)
      opened.push(world)
      return world
    }
  })
  /** Opens a world with a connected Berth, and more credit than any test spends. */
  .extend('connected', ({ openWorld }) => async (options?: SimulatorOptions): Promise<Connected> => {
    const world = await openWorld(options)
    world.sim.controls.setCredit(1000)
    return { world, under: await world.startConnected() }
  })
  .extend('world', ({ openWorld }) => openWorld())

export interface Connected {
  world: World
  under: BerthUnderTest
}
