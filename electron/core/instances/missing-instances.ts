import * as v from 'valibot'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { ServiceClient } from '../../service/client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { type DocumentOptions, openDocument } from '../storage/json-file.ts'
import { InstanceShape } from './last-seen.ts'
import { pollsUntilGone } from './missing-polls.ts'

/**
 * The instances that went from an account. What Berth itself destroyed is forgotten at once. Of any other the answers
 * may be wrong, so what cannot be got back is kept for a week, and it goes on as it was if it is there again: the ids
 * of instances are never given twice.
 */
export interface MissingInstances {
  /** Of those shown, whose absence is to be doubted: all that Berth did not see destroyed. */
  expected(shown: Readonly<Record<string, InstanceView>>): readonly number[]
  /** As it was seen last, where it went and was not forgotten. */
  lastView(instance: number): InstanceView | undefined
  /**
   * After a poll. `gone`: those of `shown` that are not there any more; `unconfirmed`: those that may be there; `at` in
   * epoch seconds of the account's time.
   */
  onPoll(poll: {
    shown: Readonly<Record<string, InstanceView>>
    gone: readonly number[]
    there: readonly { id: number }[]
    unconfirmed?: ReadonlySet<number>
    pollsMissing: (instance: number) => number
    at: number
  }): void
  /** Those of which something is kept. */
  kept(): readonly number[]
  /** The same client, with the instances that it destroys noted. */
  noting(client: ServiceClient): ServiceClient
  flush(): Promise<void>
}

export interface MissingInstancesOptions
  extends Pick<DocumentOptions<v.GenericSchema>, 'files' | 'clock' | 'name' | 'onBroken'> {
  /** It has been away for so many polls that nothing of it needs to stay open. */
  onAway: (instance: number) => void
  /** It has been away for as long and nobody destroyed it from here; once. `view`: as it was seen last. */
  onVanished: (view: InstanceView) => void
  /** It is gone for good, and all that was kept for it can go. */
  onGone: (instance: number) => void
}

/** Seconds for which what cannot be got back is kept. */
const retention = 7 * 86_400

const Departed = v.record(
  v.string(),
  v.object({ at: v.number(), view: InstanceShape, told: v.optional(v.boolean()) }),
)

export async function openMissingInstances({
  onAway,
  onVanished,
  onGone,
  ...place
}: MissingInstancesOptions): Promise<MissingInstances> {
  const document = await openDocument({ ...place, schema: Departed, empty: {} })
  const destroyed = new Set<number>()
  const kept = () => Object.keys(document.get()).map(Number)

  /** On disk before the last view of the account is, so that a kill leaves nothing that nobody would tidy. */
  function record(
    change: (departed: v.InferOutput<typeof Departed>) => v.InferOutput<typeof Departed>,
  ): void {
    void document.record(change)
  }

  function drop(instance: number): void {
    if (instance in document.get()) record(({ [instance]: _, ...rest }) => rest)
  }

  function forget(instance: number): void {
    destroyed.delete(instance)
    drop(instance)
    onGone(instance)
  }

  /** The next poll that lacks it shows that it has gone; where one lacked it already, it has. */
  function noteDestroyed(instance: number): void {
    if (instance in document.get()) forget(instance)
    else destroyed.add(instance)
  }

  return {
    expected: shown =>
      Object.keys(shown)
        .map(Number)
        .filter(id => !destroyed.has(id)),
    lastView: instance => document.get()[instance]?.view,
    onPoll({ shown, gone, there, unconfirmed, pollsMissing, at }) {
      if (gone.length === 0 && destroyed.size === 0 && kept().length === 0) return
      const present = new Set([...there.map(({ id }) => id), ...(unconfirmed ?? [])])
      for (const id of gone) {
        const view = shown[id]
        if (view) record(departed => ({ [id]: { at, view }, ...departed }))
      }
      for (const id of destroyed) if (!present.has(id)) forget(id)
      for (const [key, { at: since, view, told }] of Object.entries(document.get())) {
        const id = Number(key)
        if (present.has(id)) drop(id)
        else if (at - since >= retention) forget(id)
        else {
          if (pollsMissing(id) !== pollsUntilGone) continue
          onAway(id)
          if (told) continue
          record(departed => ({ ...departed, [id]: { at: since, view, told: true } }))
          onVanished(view)
        }
      }
    },
    kept,
    noting(client) {
      const { instances } = client
      const destroy: typeof instances.destroy = async (id, options) => {
        try {
          await instances.destroy(id, options)
        } catch (error) {
          if (error instanceof ServiceError && error.status === 404) noteDestroyed(id)
          throw error
        }
        noteDestroyed(id)
      }
      return { ...client, instances: { ...instances, destroy } }
    },
    flush: document.flush,
  }
}
