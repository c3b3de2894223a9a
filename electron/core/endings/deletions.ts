import { deferred } from '#platform/tasks.ts'
import { ServiceError } from '#service/service-error.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { lackedBy, problemOf } from '../bridge/problems.ts'
import { type Next, Worker } from '../engine/worker.ts'
import type { Collection } from '../storage/collection.ts'
import {
  type Deletion,
  type DeletionTarget,
  deletedByUser,
  deletionAlertId,
  deletionCalls,
  deletionKey,
  finallyDeletedAlert,
  holdsInstances,
  isMeant,
  type Listed,
  notDeletedAlert,
  notDeletedYet,
  openStoredDeletions,
} from './deletion.ts'
import type { EndingsContext } from './record.ts'
import { isUrgentNow, pauseAfterRequest } from './step.ts'

type DeletionsContext = Omit<EndingsContext, 'poll' | 'onDestroyed'>

/** How a deletion ended: seen in a list, or given up because the service or the key can't. `ids`: what it was. */
export interface Deleted {
  isGone: boolean
  ids: readonly number[]
}

/** Milliseconds until it is looked whether a list has again what was deleted, twice. */
const looksAfter = [60_000, 600_000]
/** Milliseconds within which what was never listed may still come. */
const listedWithin = 60_000

/** What a round of one request and one list has shown: it is over, or it goes on. */
type Round = { over: Deleted; refusal?: Problem | undefined } | { problem: Problem | undefined }

/**
 * Deletes keys, volumes and networks: the only place that does. A deletion is on disk before it is requested, requested
 * again with pauses, and over only once the service has answered a request and a later list lacks the thing; it begins anew
 * if that is listed again soon. Goes on after a kill.
 */
export class Deletions {
  readonly #context: DeletionsContext
  readonly #stored: Collection<Deletion, string>
  readonly #worker: Worker<string>
  /** When this Berth began with each, monotonic milliseconds. */
  readonly #begun = new Map<string, number>()
  /** Of those that Berth follows, by key. */
  readonly #ends = new Map<string, ReturnType<typeof deferred<Deleted>>>()
  /** Called once a round has ended that didn't show it gone, with what failed. */
  readonly #rounds = new Map<string, Set<(problem: Problem | undefined) => void>>()

  static async open(context: DeletionsContext): Promise<Deletions> {
    return new Deletions(context, await openStoredDeletions(context))
  }

  constructor(context: DeletionsContext, stored: Collection<Deletion, string>) {
    this.#context = context
    this.#stored = stored
    const { platform, quitting } = context
    this.#worker = new Worker({ clock: platform.clock, quitting, turn: key => this.#turn(key) })
    quitting.addEventListener('abort', () => this.#abandon(), { once: true })
  }

  /**
   * Deletes it, now and again until a list lacks it, also after a restart. Resolves then, or once it is certain that the
   * service or the key can't. Rejects only if Berth ends. Calls for the same thing share one deletion.
   */
  async delete(target: DeletionTarget): Promise<Deleted> {
    const end = this.#end(target)
    this.#worker.wake(await this.#begin(target, 'berth'))
    return end
  }

  /** The same, at once: resolves after one request, with whether it is over. */
  async deleteNow(target: DeletionTarget): Promise<boolean> {
    const key = deletionKey(target)
    const over = this.#end(target).then(() => true)
    const round = this.#whenRound(key).then(() => false)
    over.catch(() => undefined)
    this.#worker.hurry(await this.#begin(target, 'berth'))
    return Promise.race([over, round])
  }

  /**
   * For the user: resolves after the first request, with whether a list lacks it already. Rejects with the failure of
   * that request; where the service refuses, it is given up.
   */
  async request(target: DeletionTarget): Promise<boolean> {
    const key = deletionKey(target)
    const gone = this.#end(target).then(({ isGone }) => isGone)
    const round = this.#whenRound(key).then(problem => {
      if (problem) throw new BerthError(problem)
      return false
    })
    // The loser of the two may fail later, which State shows.
    for (const one of [gone, round]) one.catch(() => undefined)
    this.#worker.hurry(await this.#begin(target, 'user'))
    return Promise.race([round, gone])
  }

  show(): void {
    this.#stored.show()
  }

  /** Goes on with the deletions of an earlier session, once there is a key. */
  resume(): void {
    for (const deletion of this.#stored.all()) this.#worker.hurry(deletionKey(deletion))
  }

  async flush(): Promise<void> {
    await this.#worker.flush()
    await this.#stored.flush()
  }

  /** Stores it. Resolves with its key. */
  async #begin(target: DeletionTarget, by: Deletion['by']): Promise<string> {
    const key = deletionKey(target)
    const { now } = this.#context
    const ids = target.id === undefined ? [] : [target.id]
    const known = this.#stored.find(key)
    if (!known || known.goneLooks !== undefined)
      await this.#stored.put({ ...target, by, since: now(), requests: 0, ids })
    else if (by === 'user') await this.#stored.update(key, { by })
    return key
  }

  async #turn(key: string): Promise<Next> {
    const { quitting } = this.#context
    const before = this.#stored.find(key)
    if (!before) return 'rest'
    if (before.goneLooks !== undefined) return this.#lookAgain(key, before, before.goneLooks)
    const now = () => this.#context.platform.clock.monotonic()
    const begun = this.#begun.get(key) ?? now()
    this.#begun.set(key, begun)
    const round = await this.#ask(before, now() - begun)
    if (quitting.aborted) return 'rest'
    if ('over' in round) {
      await this.#finish(key, round)
      return this.#stored.find(key) ? { after: looksAfter[0] ?? 0 } : 'rest'
    }
    const after = await this.#stored.update(key, deletion => ({
      ...deletion,
      requests: deletion.requests + 1,
      problem: round.problem,
    }))
    if (!after || quitting.aborted) return 'rest'
    const soFar = { ...after, lasted: now() - begun, costPerHour: 0 }
    if (isUrgentNow(soFar) && round.problem !== holdsInstances) await this.#alert(key, after)
    for (const done of this.#rounds.get(key) ?? []) done(round.problem)
    this.#rounds.delete(key)
    return { after: pauseAfterRequest(after, soFar) }
  }

  /** Looks whether a list has it again, by its id alone: another one may have its name. */
  async #lookAgain(key: string, deletion: Deletion, looks: number): Promise<Next> {
    const { quitting, now } = this.#context
    const found = await this.#found(deletion).catch(() => undefined)
    if (quitting.aborted) return 'rest'
    if (found === undefined) return { after: looksAfter[looks] ?? 0 }
    if (found.some(({ id }) => deletion.ids.includes(id))) {
      const anew = {
        since: now(),
        requests: 0,
        problem: undefined,
        answered: undefined,
        goneLooks: undefined,
      }
      await this.#stored.update(key, before => ({ ...before, ...anew }))
      return 'again'
    }
    const next = looksAfter[looks + 1]
    if (next === undefined) await this.#stored.forget(key)
    else await this.#stored.update(key, before => ({ ...before, goneLooks: looks + 1 }))
    return next === undefined ? 'rest' : { after: next }
  }

  /** Requests it and reads a list after that. Never rejects. `lasted`: milliseconds since it began, as Berth runs now. */
  async #ask(deletion: Deletion, lasted: number): Promise<Round> {
    const { client, quitting: signal } = this.#context
    const { remove, permission } = deletionCalls[deletion.kind]
    const key = deletionKey(deletion)
    const over = (isGone: boolean) => ({ isGone, ids: this.#stored.find(key)?.ids ?? [] })
    const problemIn = (error: unknown) => lackedBy(error, permission) ?? problemOf(error)
    /** The failure of the request; null where it was accepted. */
    let failure: unknown
    try {
      // The first request by an id needs no list.
      const isFirst = deletion.id !== undefined && deletion.requests === 0
      const listed = isFirst ? deletion.ids : await this.#listed(deletion)
      if (listed === undefined) return { problem: holdsInstances }
      const left = listed.length > 0 ? listed : deletion.ids
      if (left.length === 0) return lasted < listedWithin ? { problem: undefined } : { over: over(true) }
      if (listed.length === 0 && deletion.answered) return { over: over(true) }
      await this.#note(key, left)
      failure = null
      let answered = true
      for (const id of left)
        await remove(client(), id, { signal }).catch((error: unknown) => {
          failure = error
          answered &&= isRefusal(error)
        })
      if (answered) await this.#stored.update(key, before => ({ ...before, answered }))
      if (answered && (await this.#listed(deletion))?.length === 0) return { over: over(true) }
      if (failure === null) return { problem: undefined }
    } catch (error) {
      // Where things can't be listed, an accepted request is all that can be known.
      if (cannot(error))
        return { over: over(false), refusal: failure === null ? undefined : problemIn(failure ?? error) }
      if (failure === null) return { problem: undefined }
      return { problem: goingOn(problemIn(failure ?? error)) }
    }
    if (cannot(failure) || (deletion.by === 'user' && isRefusal(failure)))
      return { over: over(false), refusal: problemIn(failure) }
    return { problem: goingOn(problemIn(failure)) }
  }

  /** The ids that a fresh list shows; undefined where one holds instances. Throws where the list isn't whole. */
  async #listed(deletion: Deletion): Promise<readonly number[] | undefined> {
    const found = await this.#found(deletion)
    return found.some(({ isHeld }) => isHeld) ? undefined : found.map(({ id }) => id)
  }

  async #found(deletion: Deletion): Promise<readonly Listed[]> {
    const { client, quitting: signal } = this.#context
    let isWhole = true
    const list = await deletionCalls[deletion.kind].list(client(), {
      signal,
      onUnread: unread => {
        isWhole = unread.every(
          ({ id }) => id !== undefined && deletion.ids.length > 0 && !deletion.ids.includes(id),
        )
      },
    })
    const found = list.filter(listed => isMeant(deletion, listed))
    if (found.length === 0 && !isWhole) throw new BerthError(notDeletedYet)
    return found
  }

  async #note(key: string, ids: readonly number[]): Promise<void> {
    await this.#stored.update(key, before => ({
      ...before,
      ids: [...new Set([...before.ids, ...ids])],
    }))
  }

  async #alert(key: string, deletion: Deletion): Promise<void> {
    const { account, notifications } = this.#context
    await this.#stored.update(key, { isUrgent: true })
    notifications.tell(account, [notDeletedAlert(account, deletion)])
  }

  async #finish(key: string, { over, refusal }: Extract<Round, { over: Deleted }>): Promise<void> {
    const { account, activity, notifications } = this.#context
    const deletion = this.#stored.find(key)
    if (!deletion) return
    const { by, isUrgent } = deletion
    this.#begun.delete(key)
    if (over.isGone && over.ids.length > 0) {
      const done = { problem: undefined, isUrgent: undefined, goneLooks: 0 }
      await this.#stored.update(key, before => ({ ...before, ...done }))
    } else await this.#stored.forget(key)
    if (by === 'user' && !refusal)
      activity.add({ account, kind: 'user', text: deletedByUser(deletion, over.isGone) })
    if (isUrgent && over.isGone) notifications.tell(account, [finallyDeletedAlert(account, deletion)])
    else if (isUrgent) notifications.withdraw(deletionAlertId(account, deletion))
    if (refusal) for (const done of this.#rounds.get(key) ?? []) done(refusal)
    this.#rounds.delete(key)
    this.#ends.get(key)?.resolve(over)
    this.#ends.delete(key)
  }

  #end(target: DeletionTarget): Promise<Deleted> {
    const key = deletionKey(target)
    const end = this.#ends.get(key) ?? deferred<Deleted>()
    if (this.#context.quitting.aborted) end.reject(new BerthError(berthEnds))
    else this.#ends.set(key, end)
    return end.promise
  }

  #whenRound(key: string): Promise<Problem | undefined> {
    return new Promise(resolve => {
      this.#rounds.set(key, (this.#rounds.get(key) ?? new Set()).add(resolve))
    })
  }

  #abandon(): void {
    for (const { reject } of this.#ends.values()) reject(new BerthError(berthEnds))
    this.#ends.clear()
  }
}

/** Whether a retry would have the same result: the service has no such call, or Berth's key may not make it. */
function cannot(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'not_supported' || error.status === 403)
}

/** Whether the service says no, as opposed to a failure that passes. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.ambiguous) return false
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
}

function goingOn({ code, message, facts }: Problem): Problem {
  return { code, message, advice: 'Berth keeps trying.', ...(facts && { facts }) }
}

const berthEnds: Problem = {
  code: 'ended',
  message: 'Berth is quitting.',
  advice: 'It continues at the next start.',
}
