import { Duplex } from 'node:stream'
import type { InsideLook } from '../../contract/instance/inside.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { reasonOf } from '../connection/ssh-problems.ts'
import { outputOf } from '../exec.ts'
import { diskQuestion, gpuQuestion, readDisks, readGpus } from './look.ts'

/** A stream to the page, and why it ended. */
export interface Watched {
  stream: Duplex
  /** Resolves when it is over: with why, unless it was closed here. */
  ended: Promise<Problem | undefined>
}

/** Milliseconds between two looks, and for one of them. */
const interval = 3000
const patience = 10_000
/** Bytes of an answer. */
const longest = 65_536

async function lookInside(connection: Connection, clock: Clock): Promise<InsideLook> {
  const bounds = { clock, within: patience, most: longest }
  const [gpus, disks] = await Promise.all([
    outputOf(connection, gpuQuestion, bounds),
    outputOf(connection, diskQuestion, bounds),
  ])
  return {
    at: clock.now(),
    gpus: gpus.code === 0 ? readGpus(gpus.text) : [],
    disks: readDisks(disks.text),
  }
}

/** Looks again and again, one JSON object a line, no faster than the lines are taken; `onLook` is given each, too. */
export function watchInside(
  connection: Connection,
  clock: Clock,
  onLook: (look: InsideLook) => void = () => undefined,
): Watched {
  let cancel: (() => void) | undefined
  let looking = false
  let wait = 0
  let problem: Problem | undefined
  const stream = new Duplex({
    readableHighWaterMark: 1,
    read() {
      if (looking) return
      looking = true
      cancel = clock.after(wait, () => void take())
      wait = interval
    },
    write: (_chunk, _encoding, done) => done(),
    destroy(_error, done) {
      cancel?.()
      done(null)
    },
  })

  async function take(): Promise<void> {
    try {
      const look = await lookInside(connection, clock)
      looking = false
      onLook(look)
      if (!stream.destroyed) stream.push(`${JSON.stringify(look)}\n`)
    } catch (error) {
      problem =
        error instanceof BerthError ? error.problem : { code: 'look_failed', message: reasonOf(error) }
      stream.destroy()
    }
  }

  const ended = new Promise<Problem | undefined>(resolve => {
    stream.once('close', () => resolve(problem))
    void connection.lost.then(lost => {
      problem ??= lost
      stream.destroy()
    })
  })
  return { stream, ended }
}
