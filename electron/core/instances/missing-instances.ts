import * as v from 'valibot'
import type { InstanceView } from '#shared/instance/instance.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import type { LastView } from './instance-view.ts'
import { InstanceShape } from './last-seen.ts'
import { MOST_INSTANCES } from './verified-poll.ts'

export interface MissingInstancesHooks {
  /** Called after so many polls without an instance that its connections can be closed. */
  onAway: (instance: number) => void
  /** Called once for each after as many polls that Berth does not destroy. `views`: the last ones. */
  onVanished: (views: readonly InstanceView[], at: number) => void
  /** Called once for those of these that are listed again, with their last views. */
  onReturned: (views: readonly InstanceView[]) => void
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
 * The instances that are missing from an account. The answers may be wrong, so the irreplaceable data of an instance is
 * kept for a week and used again if it returns: instance ids are never reused. One that Berth destroyed is forgotten
 * once that is seen.
 */
export async function openMissingInstances(
  place: DocumentPlace,
  { onAway, onVanished, onReturned, onGone }: MissingInstancesHooks,
) {
  const document = await openDocument(place, 'departed', Departed, {})
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
    for (const instance of instances) onGone(instance)
  }

  return {
    /** The last view of a missing instance that is not forgotten yet, and since when it is missing. */
    lastView: (instance: number): LastView | undefined => document.get()[instance],
    /**
     * Takes in a poll. `gone`: instances of `shown` that are missing; `unconfirmed`: instances that may exist;
     * `isDestroyed`: whether Berth destroys it, or has; `at`: epoch seconds of the account's time.
     */
    onPoll({
      shown,
      gone,
      there,
      unconfirmed,
      pollsMissing,
      isDestroyed,
      at,
    }: {
      shown: Readonly<Record<string, InstanceView>>
      gone: readonly number[]
      there: readonly { id: number }[]
      unconfirmed?: ReadonlySet<number>
      pollsMissing: (instance: number) => number
      isDestroyed: (instance: number) => boolean
      at: number
    }): void {
      if (gone.length === 0 && kept().length === 0) return
      const present = new Set([...there.map(({ id }) => id), ...(unconfirmed ?? [])])
      const views = gone.flatMap(id => shown[id] ?? [])
      if (views.length > 0)
        record(departed => ({
          ...Object.fromEntries(views.map(view => [view.id, { at, view }])),
          ...departed,
        }))
      const byAge = Object.entries(document.get()).sort(([, a], [, b]) => b.at - a.at)
      const returned = new Set<number>()
      const back: InstanceView[] = []
      const expired = new Set<number>()
      const vanished: InstanceView[] = []
      for (const [place, [key, { at: since, view, told }]] of byAge.entries()) {
        const id = Number(key)
        if (present.has(id)) {
          returned.add(id)
          if (told) back.push(view)
        } else if (at - since >= retention || place >= mostKept) expired.add(id)
        else if (pollsMissing(id) === pollsUntilGone) {
          onAway(id)
          if (!told && !isDestroyed(id)) vanished.push(view)
        }
      }
      drop(returned)
      if (back.length > 0) onReturned(back)
      forget(expired)
      if (vanished.length === 0) return
      record(departed => ({
        ...departed,
        ...Object.fromEntries(
          vanished.flatMap(({ id }) => (departed[id] ? [[id, { ...departed[id], told: true }]] : [])),
        ),
      }))
      onVanished(vanished, at)
    },
    /** The ids of missing instances whose data is kept. */
    kept,
    /** Forgets an instance that Berth destroyed, once a fresh reading shows it. */
    forgetDestroyed: (instance: number): void => forget(new Set([instance])),
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
