import { join } from 'node:path'
import { BerthError } from '../../../../electron/contract/problem.ts'
import type { AccountView, State } from '../../../../electron/contract/state.ts'
import { startBerth } from '../../../../electron/core/berth.ts'
import type { RunningBerth } from '../../../../electron/core/running.ts'
import { systemDownloads } from '../../../../electron/local/chosen/downloads.ts'
import { systemSyncedFolders } from '../../../../electron/local/chosen/synced-folders.ts'
import { openFiles } from '../../../../electron/local/files.ts'
import type { Log } from '../../../../electron/ports/log.ts'
import type { Random } from '../../../../electron/ports/random.ts'
import { fileKeychain } from '../../../integration/core/file-keychain.ts'
import { Chance } from '../chance.ts'
import { Creations } from './inside/creations.ts'
import { Deaths } from './inside/deaths.ts'
import { Stillness } from './inside/stillness.ts'
import { liveBy, VirtualTime, virtualClock } from './inside/virtual-time.ts'
import { watchedFiles, watchedKeychain } from './inside/watched-disk.ts'
import { pollEvents } from './inside/watched-poll.ts'
import { watchWire } from './inside/watched-wire.ts'
import type { FromBerth, Life, Seen, ToBerth } from './messages.ts'

/**
 * Berth in its own process, to be killed. It starts on the message `begin`. From then on its time moves only by
 * `advance`, and it reports when it has nothing more to do at that time.
 */
const time = new VirtualTime()
const deaths = new Deaths()
const stillness = new Stillness()
let berth: RunningBerth | undefined
let calls = 0

process.on('message', (message: ToBerth) => {
  switch (message.kind) {
    case 'begin':
      void stillness.work('its beginning', begin(message.life))
      return
    case 'call':
      calls += 1
      void answer(message)
      return
    case 'advance':
      void advance(message)
      return
    case 'die':
      deaths.plan(message.at, message.times)
      return
    case 'close':
      void berth?.close().then(() => process.exit())
  }
})

// The parent process has ended.
process.on('disconnect', () => process.exit())

function say(message: FromBerth): void {
  if (process.connected) process.send?.(message)
}

async function advance({ to, held }: Extract<ToBerth, { kind: 'advance' }>): Promise<void> {
  time.advance(to)
  const underWay = await stillness.reached(held)
  say({ kind: 'status', status: { next: time.next(), calls, ...underWay } })
}

async function begin(life: Life): Promise<void> {
  const { folder, servicePort, seed, number, now } = life
  time.begin(now)
  liveBy(time)
  stillness.watchSockets(servicePort)
  watchWire(stillness, deaths, new Creations((mark, polled) => say({ kind: 'asks', mark, polled })))
  pollEvents.polling = () => say({ kind: 'polling' })
  pollEvents.polled = credit => say({ kind: 'polled', credit })
  const running = await startBerth({
    log,
    machine: {
      clock: virtualClock(time),
      downloads: systemDownloads(folder),
      syncedFolders: systemSyncedFolders,
      files: watchedFiles(await openFiles(join(folder, 'berth')), stillness, deaths),
      keychain: watchedKeychain(fileKeychain(join(folder, 'keychain.json')), stillness),
      notifier: {
        available: true,
        show: async () => undefined,
        close: async () => undefined,
        onClick: () => undefined,
      },
      opener: { openLink: async () => undefined, openPrivately: async () => undefined },
      programs: { find: async () => undefined, launch: async () => undefined },
      random: seededRandom(`life ${number}`, seed),
      platform: 'linux',
      home: folder,
    },
    app: { version: 'test', shell: 'browser', terminals: [] },
  })
  berth = running
  running.onChange(saySeen)
  saySeen(running.state())
  say({ kind: 'begun' })
}

/**
 * Random numbers that depend on the time, too. If Berth draws one more at some moment, as it may when two things happen
 * at once in either order, all later numbers stay the same.
 */
function seededRandom(name: string, seed: number): Random {
  const ofNow = (kind: string) => {
    let at = Number.NaN
    let chance = new Chance(seed, kind)
    return () => {
      if (at !== time.now()) chance = new Chance(seed, `${kind} ${name} at ${time.now()}`)
      at = time.now()
      return chance
    }
  }
  const [fractions, digits] = [ofNow('fractions'), ofNow('digits')]
  return {
    fraction: () => fractions().next(),
    hex: count => Array.from({ length: count }, () => digits().integer(0, 15).toString(16)).join(''),
  }
}

const log: Log = {
  line: text => {
    if (text.includes('unforeseen')) say({ kind: 'unforeseen', text })
  },
  learn: () => undefined,
  mask: text => text,
  recent: () => [],
}

async function answer({ id, name, args }: Extract<ToBerth, { kind: 'call' }>): Promise<void> {
  try {
    if (!berth) throw new BerthError({ code: 'not_begun', message: 'It has not begun yet.' })
    say({
      kind: 'answer',
      id,
      answer: name === 'account' ? shown(berth.state()) : await berth.dispatch(name, args),
    })
  } catch (error) {
    const { code, message } =
      error instanceof BerthError ? error.problem : { code: 'internal', message: String(error) }
    say({ kind: 'problem', id, code, message })
  }
}

function shown({ accounts }: State): AccountView | null {
  return Object.values(accounts)[0] ?? null
}

let told = ''

function saySeen(state: State): void {
  const account = shown(state)
  if (!account) return
  const all = Object.values(account.instances)
  const seen: Seen = {
    guards: Object.values(account.guards),
    instances: Object.fromEntries(all.map(({ id, state }) => [id, state])),
    prices: Object.fromEntries(all.map(({ id, costPerHour }) => [id, costPerHour])),
    running: Object.fromEntries(all.map(({ id, pricePerHour = 0 }) => [id, pricePerHour])),
  }
  const text = JSON.stringify(seen)
  if (text === told) return
  told = text
  say({ kind: 'seen', seen })
}
