import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import { micros } from '#contract/spending/money.ts'
import type { User } from '#service/account.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Instance, InstanceList, ListOptions } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import { problemOf } from '../app/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import { passes } from './instance-state.ts'
import { type InstanceHabits, instanceView, type LastPoll, type Rented } from './instance-view.ts'
import type { Listing } from './verified-poll.ts'

/** The result of one poll of an account. */
export type Poll =
  /** `failed`: why the user's data is missing, if that is temporary. */
  | {
      outcome: 'seen'
      user?: User
      list?: InstanceList
      limitation?: string
      failed?: FailedPoll
    }
  | ({ outcome: 'failed' } & FailedPoll)
  | { outcome: 'refused'; problem: Problem }

/** `status`: of the HTTP answer, where one came. */
export interface FailedPoll {
  problem: Problem
  status?: number
}

/**
 * Fetches the user and the instances at the same time. A key that may read only one of the two is limited; one that may
 * read neither is refused. Instances count even where the user failed.
 */
export async function pollAccount(
  client: ServiceClient,
  signal: AbortSignal,
  listing: Pick<ListOptions, 'anew' | 'onPart'> = {},
): Promise<Poll> {
  const options = { retries: 1, signal }
  const [user, instances] = await Promise.allSettled([
    client.account.currentUser(options),
    client.instances.list({ ...options, ...listing }),
  ])
  if (user.status === 'fulfilled' && instances.status === 'fulfilled')
    return { outcome: 'seen', user: user.value, list: instances.value }

  const reasons = [user, instances].flatMap(result =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const passing = reasons.find(reason => !isRefusal(reason))
  if (passing !== undefined) {
    const status = passing instanceof ServiceError ? passing.status : 0
    const failed = { problem: problemOf(passing), status: status > 0 ? status : undefined }
    if (instances.status === 'rejected') return { outcome: 'failed', ...failed }
    return { outcome: 'seen', list: instances.value, limitation: accountUnread, failed }
  }
  if (user.status === 'fulfilled')
    return {
      outcome: 'seen',
      user: user.value,
      limitation: 'This key can’t read instances. Create one with instance_read.',
    }
  if (instances.status === 'fulfilled')
    return {
      outcome: 'seen',
      list: instances.value,
      limitation: 'This key can’t read the account, so its credit is unknown. Create one with user_read.',
    }
  return { outcome: 'refused', problem: problemOf(reasons[0]) }
}

const accountUnread =
  'The service reports instances but not the account, so the credit shown is the last known.'

/** Whether the service refused the key or its scopes. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.keyRefused
}

/** The user object's fields as in State. Missing fields keep their last value. */
export function accountFields({ id, email, credit, tfa_status }: User) {
  return {
    userId: id,
    email,
    credit: credit === undefined ? undefined : micros(credit),
    tfaStatus: tfa_status,
  }
}

/** Fetches one instance. It is gone only where the answer says so. */
export async function askForOne(
  client: ServiceClient,
  instance: number,
  signal: AbortSignal,
): Promise<Instance | 'gone' | 'unknown'> {
  try {
    return await client.instances.one(instance, { retries: 1, signal })
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404 && !error.keyRefused
    return isGone ? 'gone' : 'unknown'
  }
}

/** Changes from a fresh answer: instances that differ, by id, and those that are gone. */
export interface Changes {
  changed: ReadonlyMap<number, InstanceView>
  gone: readonly number[]
}

/** The records as they came last, by instance id. Reconciling compares with them and replaces them. */
export type KnownRecords = Map<number, Instance>

/** Seconds of the account's time: closer polls count as consecutive, even if something happened between them. */
export const shortestBreak = 600

/** The same, where two polls are so many seconds of it apart as a rule. */
export function breakAfter(interval: number): number {
  return Math.max(shortestBreak, 3 * interval)
}

/** Whether little can have happened unseen between two polls. Seconds of the account's time. */
export function followsOn(before: number | undefined, at: number, interval: number): boolean {
  return before !== undefined && at - before <= breakAfter(interval)
}

/**
 * Compares a fresh answer with the last one. A record that came back the same costs one comparison of its fields and
 * changes nothing; one that is not confirmed stays as it was. `at` is the account's time of the answer in epoch
 * seconds. `lastView`: last known view of an instance that reappeared. `rented`: data from its rental.
 */
export function compareInstances(
  known: KnownRecords,
  shown: Readonly<Record<string, InstanceView>>,
  { instances, unconfirmed }: Pick<Listing, 'instances' | 'unconfirmed'>,
  at: number,
  lastView: (instance: number) => InstanceView | undefined = () => undefined,
  lastPoll: LastPoll = { at, unbroken: true },
  rented: (instance: number) => Rented | undefined = () => undefined,
  capabilities?: InstanceHabits,
): Changes {
  const changed = new Map<number, InstanceView>()
  const present = new Set<number>(unconfirmed)
  for (const record of instances) {
    const { id } = record
    present.add(id)
    const before = shown[id]
    // Traffic estimates change with time even if the record does not. A rental found later adds the cost.
    const { perHour, expectedPerHour } = before?.traffic ?? {}
    const steady = before && !perHour && !expectedPerHour && !before.costUnknown && !passes(before.state)
    if (steady && isDeepEqual(known.get(id), record)) continue
    known.set(id, record)
    const view = instanceView(record, before ?? lastView(id), at, lastPoll, rented(id), capabilities)
    if (!before || !isDeepEqual(before, view)) changed.set(id, view)
  }
  const gone = Object.keys(shown)
    .map(Number)
    .filter(id => !present.has(id))
  for (const id of known.keys()) if (!present.has(id)) known.delete(id)
  return { changed, gone }
}

/** Writes the changes into the draft field by field, so that unchanged parts keep their identity. */
export function applyChanges(
  draft: Record<string, InstanceView>,
  shown: Readonly<Record<string, InstanceView>>,
  { changed, gone }: Changes,
): void {
  for (const id of gone) delete draft[id]
  for (const [id, after] of changed) {
    const before = shown[id]
    const target = before && (draft[id] as unknown as Record<string, unknown> | undefined)
    if (before && target) writeDifference(target, before, after)
    else draft[id] = after
  }
}

function writeDifference(target: Record<string, unknown>, before: InstanceView, after: InstanceView): void {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof InstanceView>
  for (const field of fields) {
    if (isDeepEqual(before[field], after[field])) continue
    if (after[field] === undefined) delete target[field]
    else target[field] = after[field]
  }
}
