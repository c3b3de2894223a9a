import * as v from 'valibot'
import { problemOf } from '#core/bridge/problems.ts'
import type { Clock } from '#platform/platform.ts'
import { deferred } from '#platform/tasks.ts'
import type { FileStep, FileTransferView } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { SftpLost } from '#ssh/files/file-problems.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import type { InstanceTarget } from './connect-with-key.ts'
import { overLosses } from './retry-on-disconnect.ts'

/** Everything needed to restart a transfer. The page never learns these local paths. */
export const RestartInfo = v.union([
  v.object({
    items: v.array(v.string()),
    replace: v.boolean(),
    /** The files that look like secrets and are sent all the same. */
    confirmed: v.optional(v.array(v.string()), []),
    /** Whether to send files that ignore rules exclude. */
    whole: v.optional(v.boolean(), false),
  }),
  v.object({ paths: v.array(v.string()), into: v.string() }),
])
export type RestartInfo = v.InferOutput<typeof RestartInfo>

export interface FileTransferNeeds {
  id: string
  target: Pick<InstanceTarget, 'account'> & { instance: { id: number } }
  direction: 'up' | 'down'
  name: string
  folder: string
  job: TransferJob
  /** Absent where it cannot begin again once Berth has quit. */
  again?: RestartInfo
  clock: Clock
  /** For a transfer started by an earlier Berth: why it failed, and whether permanently. Epoch milliseconds. */
  lost?: { problem: Problem; startedAt: number; forGood: boolean }
  connect: () => Promise<SharedConnection>
  /** Waits for a turn, since only some transfers run at once. */
  turn: (signal: AbortSignal) => Promise<() => void>
  changed(): void
  /** Called when it is done, failed or was cancelled. */
  ended(transfer: FileTransfer): void
}

class Stopped extends Error {}

/** A transfer of files, which begins at once unless it is lost. */
export class FileTransfer {
  readonly account: string
  readonly instance: number
  readonly again: RestartInfo | undefined
  readonly #needs: FileTransferNeeds
  readonly #startedAt: number
  readonly #speed: ReturnType<typeof createSpeed>
  readonly #ended = deferred<void>()
  #step: FileStep = 'preparing'
  #problem: Problem | undefined
  #endedAt: number | undefined
  /** Whether it cannot be resumed. */
  #broken = false
  #prepared = false
  #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(needs: FileTransferNeeds) {
    this.account = needs.target.account
    this.instance = needs.target.instance.id
    this.again = needs.again
    this.#needs = needs
    this.#startedAt = needs.lost?.startedAt ?? needs.clock.now()
    this.#speed = createSpeed(needs.clock)
    this.#broken = needs.lost?.forGood ?? false
    if (needs.lost) this.#become('failed', needs.lost.problem)
    else this.#run()
  }

  /** Resolves when it is done or cancelled, or failed without a way to resume. */
  get whenEnded(): Promise<void> {
    return this.#ended.promise
  }

  view(): FileTransferView {
    const { id, direction, name, folder, job } = this.#needs
    const tally = job.tally()
    const step = this.#step
    return {
      id,
      instance: this.instance,
      direction,
      name,
      folder,
      step,
      total: tally?.total ?? 0,
      done: tally?.done ?? 0,
      files: tally?.files ?? 0,
      filesDone: tally?.filesDone ?? 0,
      speed: step === 'running' ? this.#speed.at(tally?.done ?? 0) : undefined,
      resumable: !this.#broken && (step === 'paused' || step === 'failed'),
      leftOut: job.leftOut(),
      problem: this.#problem,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
    }
  }

  pause(): void {
    if (this.#step !== 'preparing' && this.#step !== 'running' && this.#step !== 'waiting') return
    this.#stopping.abort(new Stopped())
    this.#become('paused')
  }

  /** After a pause or a failure. */
  resume(): void {
    if (this.#broken || (this.#step !== 'paused' && this.#step !== 'failed')) return
    this.#become('preparing')
    void this.#running.then(() => {
      if (this.#step === 'preparing') this.#run()
    })
  }

  /** Resolves once partial files are removed. */
  async cancel(): Promise<void> {
    if (this.#step === 'done' || this.#step === 'cancelled') return
    this.#broken = true
    this.#stopping.abort(new Stopped())
    this.#become('cancelled')
    await this.#running
    await this.#discard()
  }

  /** Fails it permanently: the files it needs on this computer are gone. */
  breakOff(why: Problem): void {
    this.#broken = true
    if (this.#step === 'done' || this.#step === 'cancelled' || this.#step === 'failed') {
      this.#needs.changed()
      return
    }
    this.#stopping.abort(new Stopped())
    this.#become('failed', why)
  }

  #become(next: FileStep, why?: Problem): void {
    this.#step = next
    this.#problem = why
    const hasEnded = next === 'done' || next === 'failed' || next === 'cancelled'
    this.#endedAt = hasEnded ? this.#needs.clock.now() : undefined
    this.#needs.changed()
    if (!hasEnded) return
    if (next !== 'failed' || this.#broken) this.#ended.resolve(undefined)
    this.#needs.ended(this)
  }

  #run(): void {
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#become('preparing')
    this.#running = this.#work(signal).then(
      () => this.#become('done'),
      error => {
        const reason: unknown = signal.aborted ? signal.reason : error
        if (reason instanceof Stopped) return
        this.#become('failed', problemOf(reason instanceof SftpLost ? new BerthError(lostForGood) : reason))
      },
    )
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { clock, connect, job, turn } = this.#needs
    const done = await turn(signal)
    try {
      await overLosses(
        {
          clock,
          connect,
          signal,
          waiting: why => this.#become('waiting', why),
          isLoss: error => error instanceof SftpLost,
          moved: () => job.tally()?.done ?? 0,
        },
        (connection, ended) => this.#transferOver(connection, ended),
      )
    } finally {
      done()
    }
  }

  async #transferOver(connection: Connection, signal: AbortSignal): Promise<void> {
    const { job, clock } = this.#needs
    const { openSftp } = await import('#ssh/files/sftp.ts')
    const sftp = await openSftp(connection, clock)
    try {
      if (!this.#prepared) await job.prepare(sftp, signal)
      this.#prepared = true
      this.#speed.restart(job.tally()?.done ?? 0)
      this.#become('running')
      await job.run(sftp, signal)
    } finally {
      sftp.end()
    }
  }

  /** Over a new connection, if there is one, since partial files may be on the instance. */
  async #discard(): Promise<void> {
    const { connect, job, clock } = this.#needs
    const { openSftp } = await import('#ssh/files/sftp.ts')
    const lease = await connect().catch(() => undefined)
    const sftp = lease && (await openSftp(lease.connection, clock).catch(() => undefined))
    await job.discard(sftp)
    sftp?.end()
    lease?.release()
  }
}

const lostForGood: Problem = {
  code: 'sftp_lost',
  message: 'The instance’s SFTP server keeps exiting.',
  advice: 'Its disk or memory may be full. Resume to try again.',
}

/** The milliseconds that a speed is averaged over. */
const window = 5000

/** The growth rate of an amount over the last seconds. */
export function createSpeed(clock: Clock) {
  let samples: { at: number; amount: number }[] = []
  return {
    /** Discards earlier samples. */
    restart(amount: number): void {
      samples = [{ at: clock.monotonic(), amount }]
    },
    /** The rate per second, given the present amount; undefined until there is enough to measure. */
    at(amount: number): number | undefined {
      const now = clock.monotonic()
      const last = samples.at(-1)
      if (last === undefined || now - last.at >= 200) samples.push({ at: now, amount })
      while (samples.length > 2 && now - (samples[1]?.at ?? now) >= window) samples.shift()
      const [first] = samples
      if (first === undefined || now - first.at < 400) return undefined
      return Math.max(0, ((amount - first.amount) / (now - first.at)) * 1000)
    },
  }
}
