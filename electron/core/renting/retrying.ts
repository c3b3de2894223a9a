import type { Access } from '#core/access/access.ts'
import type { InstanceTarget } from '#core/access/connect-with-key.ts'
import type { AccountPoll } from '#core/account-context.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-instances.ts'
import { blockingLimit as limitThatStops, stoppedBy } from '#core/limits/may-start.ts'
import type { StoredLimits } from '#core/limits/model.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { type Next, Worker } from '../engine/worker.ts'
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
  makesVolume,
  openAttempt,
  type Rental,
  type Retrying,
  withAttempt,
} from './rental.ts'

/** Moves rentals with retries from one machine to the next. */
export class Retries {
  readonly #parts: RetryParts
  readonly #limits: Pick<StoredLimits, 'actedOn'>
  readonly #rentNext: ReturnType<typeof createRentNext>
  readonly #worker: Worker<string>
  #instances: Readonly<Record<string, InstanceView>> = {}
  /** Facts about attempts that are not stored, by mark. */
  readonly #ssh = new Map<string, AttemptSnapshot['ssh']>()
  readonly #gone = new Set<string>()

  constructor(parts: RetryParts, limits: Pick<StoredLimits, 'actedOn'>) {
    const { platform, quitting } = parts.context
    this.#parts = parts
    this.#limits = limits
    this.#rentNext = createRentNext(parts)
    this.#worker = new Worker({ clock: platform.clock, quitting, turn: id => this.#turn(id) })
  }

  /** Something has changed for a rental. */
  goOn(id: string): void {
    this.#worker.wake(id)
  }

  onPoll({ account: seen, pollsMissing }: AccountPoll): void {
    this.#instances = seen.instances
    for (const rental of this.#parts.rentals.all()) {
      if (!isRetrying(rental) || rental.step !== 'trying') continue
      const { mark, instance } = openAttempt(rental) ?? {}
      if (mark !== undefined && instance !== undefined) {
        if (pollsMissing(instance) >= pollsUntilGone) this.#gone.add(mark)
        else this.#gone.delete(mark)
      }
      this.#worker.wake(rental.id)
    }
  }

  /** The first moment after `after` at which a rental continues automatically, epoch seconds of the account's time. */
  dueAt(after: number): number {
    return this.#worker.dueAt(after)
  }

  async #turn(id: string): Promise<Next> {
    const rental = await this.#observed(id)
    if (!isRetrying(rental) || rental.step !== 'trying') return 'rest'
    const move = nextRentalMove(rental, this.#snapshotOf(openAttempt(rental)))
    return move.do === 'wait' ? { by: move.until } : this.#perform(rental, move)
  }

  /** The rental, after its present attempt has taken in the latest poll. */
  async #observed(id: string): Promise<Rental> {
    const { context, rentals } = this.#parts
    const { attempts } = rentals
    const current = openAttempt(rentals.get(id))
    const instance = this.#instances[current?.instance ?? '']
    if (!current || !instance) return rentals.get(id)
    const change = observedAttempt(current, instance, context.now())
    if (isDeepEqual({ ...current, ...change }, current)) return rentals.get(id)
    await attempts.update(current.mark, change)
    const attempt = attempts.get(current.mark)
    const runs = attempt.rental.request.access === 'ssh' ? 'is running, waiting for SSH' : 'runs'
    if (current.runningAt === undefined && attempt.runningAt !== undefined && !attempt.drop)
      context.activity.add(tryEntry(`${attemptOf(attempt)} ${runs}`, attempt))
    return rentals.get(id)
  }

  #snapshotOf(current: Attempt | undefined): AttemptSnapshot {
    const { mark = '', instance } = current ?? {}
    return {
      now: this.#parts.context.now(),
      stopper: instance === undefined ? undefined : this.#stopperOf(instance),
      isByUser: instance !== undefined && this.#parts.context.endings.isStoppedByUser(instance),
      instance: this.#instances[instance ?? ''],
      gone: this.#gone.has(mark),
      ssh: this.#ssh.get(mark) ?? 'unasked',
    }
  }

  /** The limit that stopped an instance, or will at the next poll. */
  #stopperOf(instance: number): Stopper | undefined {
    const { account, store, now } = this.#parts.context
    const limit =
      this.#limits.actedOn(instance) ?? limitThatStops(store.get().accounts[account], instance, now())
    return limit && { why: stoppedBy(limit), alone: limit.instance !== undefined }
  }

  #probeSsh(id: string, { mark, instance: number }: Attempt): void {
    const { account, access, client } = this.#parts.context
    const instance = this.#instances[number ?? '']
    if (!instance || this.#ssh.get(mark) === 'asking') return
    this.#ssh.set(mark, 'asking')
    letsIn(access, { account, instance, client: client() }).then(
      async () => {
        await this.#noteSsh(mark, undefined)
        this.#ssh.set(mark, 'answered')
        this.#worker.wake(id)
      },
      // Repeated after the next poll.
      async error => {
        this.#ssh.set(mark, 'silent')
        await this.#noteSsh(mark, problemOf(error))
      },
    )
  }

  /** Why a machine that runs can't be entered yet, for those who wait for it. */
  async #noteSsh(mark: string, problem: Problem | undefined): Promise<void> {
    const { attempts } = this.#parts.rentals
    const attempt = attempts.find(mark)
    if (attempt?.step !== 'running' || attempt.drop || isDeepEqual(attempt.problem, problem)) return
    await attempts.update(mark, { problem })
    this.#parts.rentals.show()
  }

  async #perform(rental: Retrying, move: Exclude<RentalMove, { do: 'wait' }>): Promise<Next> {
    const { context, discard, rentals } = this.#parts
    const current = openAttempt(rental)
    if (move.do === 'search') {
      const next = await this.#rentNext(rental)
      if (typeof next !== 'boolean') return this.#perform(rental, next)
      return next ? 'again' : 'rest'
    }
    if (move.do === 'end') {
      const taken = move.step === 'failed' && move.instance === undefined ? current?.instance : undefined
      // It is gone, and nobody waits for it any more.
      if (taken !== undefined) await context.endings.expect(taken, 'destroy')
      await endRetries(this.#parts, rental, move)
      return 'rest'
    }
    if (!current) return 'again'
    switch (move.do) {
      case 'probeSsh':
        this.#probeSsh(rental.id, current)
        return 'rest'
      case 'drop':
        await this.#drop(current, { ...move.drop, at: context.now() })
        return 'again'
      case 'take back':
        await discard(current.mark)
        return 'rest'
      case 'close':
        this.#ssh.delete(current.mark)
        this.#gone.delete(current.mark)
        await rentals.attempts.update(current.mark, closed(rental, current, context.now()))
        return current.instance !== undefined || current.drop?.why.code === 'offer_gone' ? 'again' : 'rest'
    }
  }

  /** Stores that an attempt is dropped, before its instance is destroyed. */
  async #drop({ mark, offer }: Attempt, why: Abandonment): Promise<void> {
    const { context, rentals, hosts } = this.#parts
    await rentals.attempts.update(mark, { drop: why })
    if (why.blame) await hosts.blame({ mark, offer, at: why.at, why: why.why.message })
    rentals.show()
    const attempt = rentals.attempts.get(mark)
    const text = `Dropped ${attemptOf(attempt).replace('A', 'a')}`
    context.activity.add(tryEntry(text, attempt, { detail: why.why.message }))
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
  const volumeLeft = current.instance !== undefined && makesVolume(request, current) ? true : undefined
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
