import { Duplex } from 'node:stream'
import type { Clock } from '#platform/platform.ts'
import type { InstanceMetrics, TrafficMetrics } from '#shared/instance/metrics.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { isTimeout, reasonOf } from '../connection/ssh-problems.ts'
import { outputOf } from '../exec.ts'
import {
  gpuQuestion,
  machineQuestion,
  readDisks,
  readGpus,
  readTraffic,
  trafficBetween,
  whyUnread,
} from './metrics.ts'

/** A stream to the page, and why it ended. */
export interface WatchedMetrics {
  stream: Duplex
  /** Resolves when the stream has ended: with the reason, unless it was closed here. */
  ended: Promise<Problem | undefined>
}

/** Milliseconds between two readings, and the timeout of one. */
const interval = 3000
const patience = 10_000
/** The most bytes of an answer. */
const longest = 65_536

/** A reading; `moved` are the bytes so far, from which the next one follows. */
interface Reading {
  metrics: InstanceMetrics
  moved?: { total: TrafficMetrics; at: number }
}

async function readMetrics(
  connection: Connection,
  clock: Clock,
  before: Reading | undefined,
): Promise<Reading> {
  const bounds = { clock, within: patience, most: longest }
  const [answer, machine] = await Promise.all([
    // A driver that hangs does not take the other figures with it.
    outputOf(connection, gpuQuestion, bounds).catch(error => {
      if (isTimeout(error)) return undefined
      throw error
    }),
    outputOf(connection, machineQuestion, bounds),
  ])
  const gpus = readGpus(answer?.text ?? '')
  const at = clock.monotonic()
  const total = readTraffic(machine.text)
  const moved = total && { total, at }
  const traffic =
    before?.moved && total && trafficBetween(before.moved.total, total, (at - before.moved.at) / 1000)
  return {
    moved,
    metrics: {
      at: clock.now(),
      gpus,
      ...(gpus.length > 0
        ? {}
        : { gpusUnread: answer ? whyUnread(answer.text) : 'nvidia-smi doesn’t answer' }),
      disks: readDisks(machine.text),
      traffic,
    },
  }
}

/** Streams readings, each one line of JSON, with back-pressure. `onMetrics` is called with each reading, too. */
export function watchMetrics(
  connection: Connection,
  clock: Clock,
  onMetrics: (metrics: InstanceMetrics) => void = () => undefined,
): WatchedMetrics {
  let cancel: (() => void) | undefined
  let reading = false
  let wait = 0
  let problem: Problem | undefined
  let last: Reading | undefined
  const stream = new Duplex({
    readableHighWaterMark: 1,
    read() {
      if (reading) return
      reading = true
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
      last = await readMetrics(connection, clock, last)
      const { metrics } = last
      reading = false
      onMetrics(metrics)
      if (!stream.destroyed) stream.push(`${JSON.stringify(metrics)}\n`)
    } catch (error) {
      problem =
        error instanceof BerthError ? error.problem : { code: 'metrics_failed', message: reasonOf(error) }
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
