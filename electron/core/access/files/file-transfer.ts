import type { FileStep, FileTransferView } from '../../../contract/instance/files.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import { deferred } from '../../../ports/deferred.ts'
import type { Lease } from '../../../ssh/connection/sharing.ts'
import { SftpLost } from '../../../ssh/files/file-problems.ts'
import { openSftp, type Sftp } from '../../../ssh/files/sftp.ts'
import type { Job } from '../../../ssh/files/transfer/job.ts'
import { keepLease, type SteadyLease } from '../../../ssh/tunnels/steady-lease.ts'
import { problemOf } from '../../app/problems.ts'
import type { InstanceTarget } from '../enter.ts'
import { createSpeed } from './speed.ts'

export interface FileTransferNeeds {
  id: string
  target: Pick<InstanceTarget, 'account'> & { instance: { id: number } }
  direction: 'up' | 'down'
  name: string
  folder: string
  job: Job
  clock: Clock
  connect: () => Promise<Lease>
  /** Waits for a turn: not everything runs at once. */
  turn: (signal: AbortSignal) => Promise<() => void>
  changed(): void
  /** It is done, failed or was cancelled. */
  ended(transfer: FileTransfer): void
}

/** Files on their way. */
export interface FileTransfer {
  readonly account: string
  readonly instance: number
  view(): FileTransferView
  pause(): void
  /** After a pause or a failure. */
  resume(): void
  /** Resolves once nothing is left of what was under way. */
  cancel(): Promise<void>
  /** Resolves when it is over for good. */
  readonly whenEnded: Promise<void>
  /** It cannot go on, whatever the user does: what it needs on this machine has gone. */
  breakOff(problem: Problem): void
}

/** Lost connections in a row without a byte between them, after which it is the server that does not want to. */
const mostLosses = 5

class Stopped extends Error {}

/** Begins at once. */
export function startFileTransfer(needs: FileTransferNeeds): FileTransfer {
  const { id, target, direction, name, folder, job, clock, changed } = needs
  const startedAt = clock.now()
  const speed = createSpeed(clock)
  let step: FileStep = 'preparing'
  let problem: Problem | undefined
  let endedAt: number | undefined
  let broken = false
  let prepared = false
  let stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const whenEnded = deferred<void>()

  function become(next: FileStep, why?: Problem): void {
    step = next
    problem = why
    const over = next === 'done' || next === 'failed' || next === 'cancelled'
    endedAt = over ? clock.now() : undefined
    changed()
    if (!over) return
    if (next !== 'failed' || broken) whenEnded.resolve(undefined)
    needs.ended(transfer)
  }

  async function work(signal: AbortSignal): Promise<void> {
    const done = await needs.turn(signal)
    let lease: SteadyLease | undefined
    try {
      lease = await keepLease({
        clock,
        connect: needs.connect,
        lost(why) {
          if (signal.aborted) return
          if (why.code === 'no_such_instance') stop(new BerthError(why))
          else become('waiting', why)
        },
        back: () => undefined,
      })
      const ending = lease
      signal.addEventListener('abort', () => ending.close(), { once: true })
      signal.throwIfAborted()
      await overAndOver(lease, signal)
    } finally {
      lease?.close()
      done()
    }
  }

  async function overAndOver(lease: SteadyLease, signal: AbortSignal): Promise<void> {
    let losses = 0
    for (;;) {
      const before = job.tally()?.done ?? 0
      let sftp: Sftp | undefined
      try {
        sftp = await openSftp((await lease.get()).connection)
        if (!prepared) await job.prepare(sftp, signal)
        prepared = true
        speed.restart(job.tally()?.done ?? 0)
        become('running')
        await job.run(sftp, signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof SftpLost)) throw error
        losses = (job.tally()?.done ?? 0) > before ? 0 : losses + 1
        if (losses >= mostLosses) throw error
        await new Promise<void>(resolve => void clock.after(250, resolve))
      } finally {
        sftp?.end()
      }
    }
  }

  function run(): void {
    stopping = new AbortController()
    const { signal } = stopping
    become('preparing')
    running = work(signal).then(
      () => become('done'),
      error => {
        const reason: unknown = signal.aborted ? signal.reason : error
        if (reason instanceof Stopped) return
        become('failed', problemOf(reason instanceof SftpLost ? lostForGood() : reason))
      },
    )
  }

  function stop(reason: Error): void {
    stopping.abort(reason)
  }

  /** Over a connection of its own, where one can be had: what arrived lies on the other side, too. */
  async function discard(): Promise<void> {
    const lease = await needs.connect().catch(() => undefined)
    const sftp = lease && (await openSftp(lease.connection).catch(() => undefined))
    await job.discard(sftp)
    sftp?.end()
    lease?.release()
  }

  const transfer: FileTransfer = {
    account: target.account,
    instance: target.instance.id,
    whenEnded: whenEnded.promise,
    view() {
      const tally = job.tally()
      return {
        id,
        instance: target.instance.id,
        direction,
        name,
        folder,
        step,
        total: tally?.total ?? 0,
        done: tally?.done ?? 0,
        files: tally?.files ?? 0,
        filesDone: tally?.filesDone ?? 0,
        speed: step === 'running' ? speed.at(tally?.done ?? 0) : undefined,
        resumable: !broken && (step === 'paused' || step === 'failed'),
        leftOut: job.leftOut(),
        problem,
        startedAt,
        endedAt,
      }
    },
    pause() {
      if (step !== 'preparing' && step !== 'running' && step !== 'waiting') return
      stop(new Stopped())
      become('paused')
    },
    resume() {
      if (broken || (step !== 'paused' && step !== 'failed')) return
      become('preparing')
      void running.then(() => {
        if (step === 'preparing') run()
      })
    },
    async cancel() {
      if (step === 'done' || step === 'cancelled') return
      broken = true
      stop(new Stopped())
      become('cancelled')
      await running
      await discard()
    },
    breakOff(why) {
      broken = true
      if (step === 'done' || step === 'cancelled' || step === 'failed') return changed()
      stop(new Stopped())
      become('failed', why)
    },
  }
  run()
  return transfer
}

function lostForGood(): BerthError {
  return new BerthError({
    code: 'sftp_lost',
    message: 'The instance’s SFTP server ended again and again.',
    advice: 'Its disk or memory may be full. Resume to try again.',
  })
}
