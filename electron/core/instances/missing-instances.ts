import * as v from 'valibot'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import { InstanceShape } from './last-seen.ts'
import { MOST_INSTANCES } from './verified-poll.ts'

export interface MissingInstancesHooks {
  /** Called after so many polls without an instance that its connections can be closed. */
  onAway: (instance: number) => void
  /** Called once for each after as many polls where Berth did not ask to destroy it. `views`: the last ones. */
  onVanished: (views: readonly InstanceView[]) => void
  /** Called when an instance is permanently gone and its data can be deleted. */
  onGone: (instance: number) => void
}

/** Seconds for which irreplaceable data is kept. */
const retention = 7 * 86_400
/** The most missing instances whose data is kept; those that went first are forgotten. */
const mostKept = MOST_INSTANCES

const Departed = v.record(
  v.string(),
  v.object({ at: v.number(), view: InstanceShape, told: v.optional(v.boolean()) }),
)

/**
 * The instances that are missing from an account. An instance that Berth destroyed is forgotten at once. For any other
 * the answers may be wrong, so its irreplaceable data is kept for a week and used again if it returns: instance ids are
 * never reused.
 */
export async function openMissingInstances(
  place: DocumentPlace,
  { onAway, onVanished, onGone }: MissingInstancesHooks,
) {
  const document = await openDocument(place, 'departed', Departed, {})
  const destroyed = new Set<number>()
  /** Those that Berth asked to destroy, where the answer was lost. */
  const maybeDestroyed = new Set<number>()
  const kept = () => Object.keys(document.get()).map(Number)

  /** Written before the account's last view, so that a kill leaves no data that would never be deleted. */
  function record(
    change: (departed: v.InferOutput<typeof Departed>) => v.InferOutput<typeof Departed>,
  ): void {
    void document.record(change)
  }

  function drop(instances: ReadonlySet<number>): void {
    const dropped = Object.keys(document.get()).some(key => instances.has(Number(key)))
    if (dropped)
      record(departed =>
        Object.fromEntries(Object.entries(departed).filter(([key]) => !instances.has(Number(key)))),
      )
  }

  function forget(instances: ReadonlySet<number>): void {
    drop(instances)
    for (const instance of instances) {
      destroyed.delete(instance)
      maybeDestroyed.delete(instance)
      onGone(instance)
    }
  }

  /** Forgets a destroyed instance at the next poll without it, or at once where one was without it already. */
  function noteDestroyed(instance: number): void {
    if (instance in document.get()) forget(new Set([instance]))
    else destroyed.add(instance)
  }

  return {
    /** The shown instances whose absence is doubted: all that Berth did not destroy. */
    expected: (shown: Readonly<Record<string, InstanceView>>): readonly number[] =>
      Object.keys(shown)
        .map(Number)
        .filter(id => !destroyed.has(id)),
    /** The last view of a missing instance that is not forgotten yet. */
    lastView: (instance: number): InstanceView | undefined => document.get()[instance]?.view,
    /**
     * Takes in a poll. `gone`: instances of `shown` that are missing; `unconfirmed`: instances that may exist; `at`: epoch
     * seconds of the account's time.
     */
    onPoll({
      shown,
      gone,
      there,
      unconfirmed,
      pollsMissing,
      at,
    }: {
      shown: Readonly<Record<string, InstanceView>>
      gone: readonly number[]
      there: readonly { id: number }[]
      unconfirmed?: ReadonlySet<number>
      pollsMissing: (instance: number) => number
      at: number
    }): void {
      if (gone.length === 0 && destroyed.size === 0 && kept().length === 0) return
      const present = new Set([...there.map(({ id }) => id), ...(unconfirmed ?? [])])
      const views = gone.flatMap(id => shown[id] ?? [])
      if (views.length > 0)
        record(departed => ({
          ...Object.fromEntries(views.map(view => [view.id, { at, view }])),
          ...departed,
        }))
      forget(new Set([...destroyed].filter(id => !present.has(id))))
      const byAge = Object.entries(document.get()).sort(([, a], [, b]) => b.at - a.at)
      const returned = new Set<number>()
      const expired = new Set<number>()
      const vanished: InstanceView[] = []
      for (const [place, [key, { at: since, view, told }]] of byAge.entries()) {
        const id = Number(key)
        if (present.has(id)) returned.add(id)
        else if (at - since >= retention || place >= mostKept) expired.add(id)
        else if (pollsMissing(id) === pollsUntilGone) {
          onAway(id)
          if (!told && !maybeDestroyed.has(id)) vanished.push(view)
        }
      }
      drop(returned)
      forget(expired)
      if (vanished.length === 0) return
      record(departed => ({
        ...departed,
        ...Object.fromEntries(
          vanished.flatMap(({ id }) => (departed[id] ? [[id, { ...departed[id], told: true }]] : [])),
        ),
      }))
      onVanished(vanished)
    },
    /** The ids of missing instances whose data is kept. */
    kept,
    /** The same client, which also notes the instances that it destroys. */
    noting(client: ServiceClient): ServiceClient {
      const { instances } = client
      const destroy: typeof instances.destroy = async (id, options) => {
        try {
          await instances.destroy(id, options)
        } catch (error) {
          if (error instanceof ServiceError && error.status === 404) noteDestroyed(id)
          if (error instanceof ServiceError && error.ambiguous) maybeDestroyed.add(id)
          throw error
        }
        noteDestroyed(id)
      }
      return { ...client, instances: { ...instances, destroy } }
    },
    flush: document.flush,
  }
}

/** Polls in a row without an instance until it counts as gone: a single poll may have begun before it existed. */
export const pollsUntilGone = 2

/** Counts the polls in a row without an instance. */
export class MissingPolls {
  readonly #counts = new Map<number, number>()

  /**
   * Records a new poll: the instances that exist or may exist. Gives how many polls in a row were without an instance:
   * each counts from the first poll that asked for it.
   */
  next(mayBeThere: (instance: number) => boolean): (instance: number) => number {
    for (const instance of this.#counts.keys()) if (mayBeThere(instance)) this.#counts.delete(instance)
    const counted = new Map<number, number>()
    return instance => {
      if (mayBeThere(instance)) return 0
      const count = counted.get(instance) ?? (this.#counts.get(instance) ?? 0) + 1
      counted.set(instance, count)
      this.#counts.set(instance, count)
      return count
    }
  }
}
