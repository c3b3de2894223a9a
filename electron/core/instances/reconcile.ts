import type { Instance } from '#service/instances.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { isDeepEqual } from '../storage/store.ts'
import { passes } from './instance-state.ts'
import {
  type InstanceHabits,
  instanceView,
  type LastPoll,
  type LastView,
  type Rented,
} from './instance-view.ts'
import type { InstanceListing } from './verified-poll.ts'

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
 * seconds. `lastView`: that of an instance that reappeared. `rented`: data from its rental.
 */
export function compareInstances(
  known: KnownRecords,
  shown: Readonly<Record<string, InstanceView>>,
  { instances, unconfirmed }: Pick<InstanceListing, 'instances' | 'unconfirmed'>,
  at: number,
  lastView: (instance: number) => LastView | undefined = () => undefined,
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
    const last = before ? undefined : lastView(id)
    const poll = last ? { ...lastPoll, missingSince: last.at } : lastPoll
    const view = instanceView(record, before ?? last?.view, at, poll, rented(id), capabilities)
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
