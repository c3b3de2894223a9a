import * as v from 'valibot'
import type { FullClient } from '#service/client.ts'
import { EndingAction, type EndingPhase, type EndingView } from '#shared/automation/ending.ts'
import { InstanceId, LimitId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import type { Activity } from '../activity.ts'
import type { Notifications } from '../alerts/notifications.ts'
import { StoredProblem } from '../bridge/problems.ts'
import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'

/** What the endings of an account need from it. */
export interface EndingsContext extends CollectionContext {
  activity: Activity
  notifications: Notifications
  /** Throws `key_missing` while there is no key. */
  client(): FullClient
  now(): number
  /** Resolves when a poll that began after this call has ended, successfully or not. */
  poll(): Promise<void>
  /** An instance was destroyed, and a fresh reading shows it: its data can be deleted. */
  onDestroyed(instance: number): void
}

/**
 * Who wants an instance to end: the user, a limit, or a part of Berth. Activity says that it has, once that is seen: with
 * Berth's text, unless who wants it tells more (`isTold`), and not where someone else ended it before.
 */
const EndingCause = v.variant('kind', [
  v.object({ kind: v.literal('user') }),
  v.object({ kind: v.literal('limit'), limit: LimitId, lateSince: v.optional(v.number()) }),
  v.object({
    kind: v.literal('berth'),
    text: v.optional(v.string()),
    detail: v.optional(v.string()),
    isTold: v.optional(v.literal(true)),
    /** The user is told that its files are kept. */
    keepsFiles: v.optional(v.boolean()),
  }),
])
export type EndingCause = v.InferOutput<typeof EndingCause>
/** A new one: what Berth ends itself has its reason in Activity. */
export type EndingReason =
  | Exclude<EndingCause, { kind: 'berth' }>
  | (Extract<EndingCause, { kind: 'berth' }> & ({ text: string } | { isTold: true }))

/** Activity's line on a stop or destroy without a reason of its own. */
export function endedText({ action, name }: Pick<Ending, 'action' | 'name'>): string {
  return `${action === 'stop' ? 'Stopped' : 'Destroyed'} ${name}`
}

/** The reason of an ending that begins anew. */
export function endingReason({ cause, action, name }: Ending): EndingReason {
  return cause.kind === 'berth' ? { ...cause, text: cause.text ?? endedText({ action, name }) } : cause
}

/** A stop or destroy, stored before it is requested. Times in epoch seconds of the account's time. */
export const Ending = v.object({
  instance: InstanceId,
  action: EndingAction,
  cause: EndingCause,
  /** The instance's name: it may be gone once there is news. */
  name: v.string(),
  since: v.number(),
  requests: v.number(),
  /** The last request's failure. */
  problem: v.optional(StoredProblem),
  /** The service shows that the request took effect, and is not done. */
  isTaken: v.optional(v.boolean()),
  /** The user was alerted that it lasts. */
  isUrgent: v.optional(v.boolean()),
  /** Since when a fresh reading shows it. Kept for a week for an instance that is gone: if it returns, it ends again. */
  endedAt: v.optional(v.number()),
  /** It is stopped. Kept until it's started: if it runs though it's meant to be stopped, it ends again. */
  isStopped: v.optional(v.boolean()),
})
export type Ending = v.InferOutput<typeof Ending>

/** The limit that wants an ending. */
export function wantedBy(ending: Ending | undefined): string | undefined {
  return ending?.cause.kind === 'limit' ? ending.cause.limit : undefined
}

/** Told about the endings that a limit wants. */
export interface EndingFollower {
  /** Fresh readings show them. They count as pending until this resolves. */
  ended(endings: readonly Ending[]): Promise<void>
  /** A request failed, and is repeated in so many seconds. */
  failed(ending: Ending, problem: Problem, pause: number): void
}

/** A fresh poll, as far as it shows what has ended. */
export interface EndingPoll {
  account: Pick<AccountView, 'instances'>
  /** Instances whose absence was confirmed by a request for each. */
  gone: ReadonlySet<number>
  /** When it began, milliseconds of the monotonic clock. */
  begunAt: number
  /** Epoch seconds of the account's time. */
  at: number
}

export type StoredEndings = Collection<Ending, number>

/** Endings that are over are kept: the latest so many. */
const mostEnded = 500

export function openStoredEndings(context: CollectionContext): Promise<StoredEndings> {
  return openCollection(context, {
    name: 'endings',
    schema: Ending,
    key: ({ instance }) => instance,
    rescue: { instead: { '*.cause': { kind: 'berth' } }, keep: ending => ending },
    prune: { isOver: ({ endedAt }) => endedAt !== undefined, most: mostEnded },
    view: all => ({
      endings: Object.fromEntries(all.filter(isOpen).map(ending => [ending.instance, viewOf(ending)])),
    }),
  })
}

/** Whether no fresh reading has shown it yet. */
export function isOpen({ endedAt }: Ending): boolean {
  return endedAt === undefined
}

function viewOf(ending: Ending): EndingView {
  const { action, since, requests, problem } = ending
  return { action, phase: phaseOf(ending), since, requests, problem: problem?.message }
}

export function phaseOf({
  requests,
  problem,
  isTaken,
  isUrgent,
}: Pick<Ending, 'requests' | 'problem' | 'isTaken' | 'isUrgent'>): EndingPhase {
  if (isUrgent) return 'urgent'
  return problem !== undefined || (requests > 2 && !isTaken) ? 'retrying' : 'requested'
}
