import type { Access } from '#core/access/access.ts'
import type { InstanceTarget } from '#core/access/connect-with-key.ts'
import type { AccountPoll } from '#core/account-context.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-instances.ts'
import { blockingLimit as limitThatStops, stoppedBy } from '#core/limits/may-start.ts'
import type { StoredLimits } from '#core/limits/model.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { isDeepEqual } from '../storage/store.ts'
import { attemptOf, tellOfRetries, tryEntry } from './messages.ts'
import {
  type AttemptSnapshot,
  nextRentalMove,
  observedAttempt,
  type RentalMove,
  type Stopper,
} from './next-move.ts'
import { createRentNext, type RetryParts } from './next-offer.ts'
import {
  type Abandonment,
  type Attempt,
  costOfAttempt,
  isRetrying,
  openAttempt,
  type Rental,
  type Retrying,
  withAttempt,
} from './rental.ts'

/** Moves rentals with retries from one machine to the next, in one loop per rental. */
export function createRetries(parts: RetryParts, limits: Pick<StoredLimits, 'actedOn'>) {
  const { context, rentals, hosts, discard } = parts
  const { account, store, access, client, ending, now } = context
  const { attempts } = rentals
  const rentNext = createRentNext(parts)
  /** Rentals with a running loop. */
  const busy = new Set<string>()
  const due = new Map<string, number>()
  let instances: Readonly<Record<string, InstanceView>> = {}
  /** Facts about tries that are not stored, by mark. */
  const ssh = new Map<string, AttemptSnapshot['ssh']>()
  const gone = new Set<string>()

  async function pursue(id: string): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      for (;;) {
        const rental = await observed(id)
        if (!isRetrying(rental) || rental.step !== 'trying' || ending.aborted) break
        const move = nextRentalMove(rental, snapshotOf(openAttempt(rental)))
        if (move.do === 'wait') {
          if (move.until === undefined) due.delete(id)
          else due.set(id, move.until)
          break
        }
        due.delete(id)
        if (!(await perform(rental, move))) break
      }
    } finally {
      busy.delete(id)
    }
  }

  /** The rental, after its present try has taken in the latest poll. */
  async function observed(id: string): Promise<Rental> {
    const current = openAttempt(rentals.get(id))
    const instance = instances[current?.instance ?? '']
    if (!current || !instance) return rentals.get(id)
    const change = observedAttempt(current, instance, now())
    if (isDeepEqual({ ...current, ...change }, current)) return rentals.get(id)
    await attempts.update(current.mark, change)
    const attempt = attempts.get(current.mark)
    const runs = attempt.rental.request.access === 'ssh' ? 'is running, waiting for SSH' : 'runs'
    if (current.runningAt === undefined && attempt.runningAt !== undefined && !attempt.drop)
      context.activity.add(tryEntry(`${attemptOf(attempt)} ${runs}`, attempt))
    return rentals.get(id)
  }

  function snapshotOf(current: Attempt | undefined): AttemptSnapshot {
    const { mark = '', instance } = current ?? {}
    return {
      now: now(),
      stopper: instance === undefined ? undefined : stopperOf(instance),
      instance: instances[instance ?? ''],
      gone: gone.has(mark),
      ssh: ssh.get(mark) ?? 'unasked',
    }
  }

  /** The limit that stopped an instance, or will at the next poll. */
  function stopperOf(instance: number): Stopper | undefined {
    const limit = limits.actedOn(instance) ?? limitThatStops(store.get().accounts[account], instance, now())
    return limit && { why: stoppedBy(limit), alone: limit.instance !== undefined }
  }

  function probeSsh(id: string, { mark, instance: number }: Attempt): void {
    const instance = instances[number ?? '']
    if (!instance || ssh.get(mark) === 'asking') return
    ssh.set(mark, 'asking')
    letsIn(access, { account, instance, client: client() }).then(
      () => {
        ssh.set(mark, 'answered')
        void pursue(id)
      },
      // Repeated after the next poll.
      () => ssh.set(mark, 'silent'),
    )
  }

  /** Resolves with whether there is more to do at once. */
  async function perform(rental: Retrying, move: Exclude<RentalMove, { do: 'wait' }>): Promise<boolean> {
    const current = openAttempt(rental)
    if (move.do === 'search') {
      const next = await rentNext(rental)
      return typeof next === 'boolean' ? next : perform(rental, next)
    }
    if (move.do === 'end') {
      const taken = move.step === 'failed' && move.instance === undefined ? current?.instance : undefined
      // It is gone, and nobody waits for it any more.
      if (taken !== undefined) await context.endings.expect(taken, 'destroy')
      await endRetries(parts, rental, move)
      return false
    }
    if (!current) return true
    switch (move.do) {
      case 'probeSsh':
        probeSsh(rental.id, current)
        return false
      case 'drop':
        await drop(current, { ...move.drop, at: now() })
        return true
      case 'take back':
        await discard(current.mark)
        return false
      case 'close':
        ssh.delete(current.mark)
        gone.delete(current.mark)
        await attempts.update(current.mark, closed(rental, current, now()))
        return current.instance !== undefined || current.drop?.why.code === 'offer_gone'
    }
  }

  /** Stores that a try is dropped, before its instance is destroyed. */
  async function drop({ mark, offer }: Attempt, why: Abandonment): Promise<void> {
    await attempts.update(mark, { drop: why })
    if (why.blame) await hosts.blame({ mark, offer, at: why.at, why: why.why.message })
    rentals.show()
    const attempt = attempts.get(mark)
    const text = `Dropped ${attemptOf(attempt).replace('A', 'a')}`
    context.activity.add(tryEntry(text, attempt, { detail: why.why.message }))
  }

  return {
    /** Continues until it has to wait for a poll. */
    pursue,
    onPoll({ account: seen, pollsMissing }: AccountPoll): void {
      instances = seen.instances
      for (const rental of rentals.all()) {
        if (!isRetrying(rental) || rental.step !== 'trying') continue
        const { mark, instance } = openAttempt(rental) ?? {}
        if (mark !== undefined && instance !== undefined) {
          if (pollsMissing(instance) >= pollsUntilGone) gone.add(mark)
          else gone.delete(mark)
        }
        void pursue(rental.id)
      }
    },
    /** The first moment after `after` at which a rental continues automatically, epoch seconds of the account's time. */
    dueAt: (after: number): number => Math.min(...[...due.values()].filter(moment => moment > after)),
  }
}

/** Ends a rental with retries and reports that. */
export async function endRetries(
  { context, rentals, secrets }: Pick<RetryParts, 'context' | 'rentals' | 'secrets'>,
  rental: Retrying,
  { step, problem, instance }: Omit<Extract<RentalMove, { do: 'end' }>, 'do'>,
): Promise<void> {
  const { id } = rental
  await secrets.forget(rental).catch(() => undefined)
  const current = openAttempt(rental)
  const endedAt = context.now()
  // An instance that is kept is no longer tried, and its cost is its own.
  const change = current && instance === undefined ? closed(rental, current, endedAt) : {}
  // At once, since after a kill in between another machine would be tried. One that was cancelled meanwhile goes on to that.
  await rentals.update(id, now =>
    now.unwanted && step !== 'cancelled'
      ? now
      : { ...withAttempt(now, current?.mark ?? '', change), step, problem, instance, endedAt },
  )
  const after = rentals.get(id)
  void context.poll()
  if (!isRetrying(after) || after.step === 'trying') return
  if (step === 'cancelled') tellOfRetries(context, after, { text: 'Attempts cancelled' })
  else
    tellOfRetries(context, after, {
      text: step === 'ready' ? `Ready on attempt ${after.attempts.length}` : 'Renting with retries failed',
      end: step,
      problem,
      instance,
    })
}

/** The fields of an ended try. */
function closed({ request }: Pick<Rental, 'request'>, current: Attempt, at: number): Partial<Attempt> {
  const hasVolume = request.volume?.create === true && current.offer.machineId !== undefined
  const volumeLeft = hasVolume && current.instance !== undefined ? true : undefined
  return { cost: costOfAttempt(current, at), endedAt: at, volumeLeft }
}

/** Rejects while nobody can log in. Questions for the user, such as a changed host key, are not the machine's fault. */
async function letsIn(access: Pick<Access, 'probe' | 'connect'>, target: InstanceTarget): Promise<void> {
  await access.probe(target)
  try {
    const lease = await access.connect(target)
    lease.release()
  } catch (error) {
    if (problemOf(error).code === 'key_refused') throw error
  }
}
