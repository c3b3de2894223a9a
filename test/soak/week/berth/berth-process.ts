import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BerthError } from '../../../../electron/contract/problem.ts'
import type { AccountView, State } from '../../../../electron/contract/state.ts'
import { startBerth } from '../../../../electron/core/berth.ts'
import type { RunningBerth } from '../../../../electron/core/running.ts'
import { systemDownloads } from '../../../../electron/local/chosen/downloads.ts'
import { systemClock } from '../../../../electron/local/clock.ts'
import { openFiles } from '../../../../electron/local/files.ts'
import type { Clock } from '../../../../electron/ports/clock.ts'
import type { Log } from '../../../../electron/ports/log.ts'
import { fileKeychain } from '../../../integration/core/file-keychain.ts'
import { hurry } from './hurry.ts'
import type { FromBerth, Life, Seen, ToBerth } from './messages.ts'

/** Berth in a process of its own, to be killed. It waits until it is told to begin, and then lives as it is told. */
let berth: RunningBerth | undefined

process.on('message', (message: ToBerth) => {
  if (message.kind === 'begin') void begin(message.life)
  else if (message.kind === 'call') void answer(message)
  else void berth?.close().then(() => process.exit())
})

// Nobody is left to live for.
process.on('disconnect', () => process.exit())

function say(message: FromBerth): void {
  if (process.connected) process.send?.(message)
}

async function begin(life: Life): Promise<void> {
  hurry(life.hurry)
  const { folder } = life
  const running = await startBerth({
    log,
    machine: {
      clock: hurriedClock(life.hurry),
      downloads: systemDownloads(folder),
      files: await openFiles(join(folder, 'berth')),
      keychain: fileKeychain(join(folder, 'keychain.json')),
      notifier: {
        available: true,
        show: async () => undefined,
        close: async () => undefined,
        onClick: () => undefined,
      },
      opener: { openLink: async () => undefined, openPrivately: async () => undefined },
      programs: { find: async () => undefined, launch: async () => undefined },
      random: {
        hex: digits => randomBytes(digits).toString('hex').slice(0, digits),
        fraction: Math.random,
      },
      platform: 'linux',
      home: folder,
    },
    app: { version: 'test', shell: 'browser', terminals: [] },
  })
  berth = running
  running.onChange(state => tellSeen(state))
  say({ kind: 'begun' })
  await lookAgainAndAgain(running, life)
}

const log: Log = {
  line: text => {
    if (text.includes('unforeseen')) say({ kind: 'unforeseen', text })
  },
  learn: () => undefined,
  mask: text => text,
  recent: () => [],
}

/** The clock of a machine that has lived so much faster since the epoch's last hour began: the same after each start. */
function hurriedClock(times: number): Clock {
  const now = systemClock.now
  const hour = Math.floor(now() / 3_600_000) * 3_600_000
  return { ...systemClock, now: () => hour + (now() - hour) * times }
}

async function answer({ id, name, args }: Extract<ToBerth, { kind: 'call' }>): Promise<void> {
  try {
    if (!berth) throw new Error('not begun')
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

function tellSeen(state: State): void {
  const account = shown(state)
  if (!account) return
  const instances = Object.fromEntries(Object.values(account.instances).map(({ id, state }) => [id, state]))
  const seen: Seen = { guards: Object.values(account.guards), instances }
  const text = JSON.stringify(seen)
  if (text === told) return
  told = text
  say({ kind: 'seen', seen })
}

/** A look follows the other, as a user would who presses refresh all day. */
async function lookAgainAndAgain(running: RunningBerth, life: Life): Promise<void> {
  while (process.connected) {
    if (shown(running.state())) {
      say({ kind: 'looking' })
      await running.dispatch('refresh', {}).catch(() => undefined)
      if (shown(running.state())?.connection.status === 'online') say({ kind: 'looked' })
    }
    await pause(life.pause * life.hurry)
  }
}
