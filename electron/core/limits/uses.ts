import type { Clock } from '#platform/platform.ts'
import type { LastUse } from '#shared/automation/use.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { readUse, type UseReading } from '#ssh/monitor/use.ts'
import { type AccountContext, withConnection } from '../account-context.ts'

/**
 * A reading of who uses an instance, `at` in epoch seconds of the account's time. `last`: absent if nobody does. `load`: of its
 * busiest GPU in percent, where that could be read.
 */
export interface ReadUse {
  at: number
  last?: LastUse
  load?: number
}
export type Uses = ReadonlyMap<number, ReadUse>

/** Milliseconds between two readings of an instance: of the account's time, and at least on this computer. */
const interval = 60_000
const shortestInterval = 2000

/** Seconds of the account's time before an idle limit acts within which it is read who uses the instance. */
export const readsAhead = (rate: number): number => 180 + (3 * shortestInterval * rate) / 1000

/** Who uses instances, read over SSH. `question` resolves with undefined where that can't be told. */
export function createUses(context: {
  clock: Clock
  question: (instance: InstanceView) => Promise<UseReading | undefined>
  now: () => number
  quitting: AbortSignal
  heard: () => void
}) {
  const { clock, question, now, quitting, heard } = context
  const uses = new Map<number, ReadUse>()
  const askedAt = new Map<number, number>()

  async function hear(instance: InstanceView): Promise<void> {
    // A late answer is about the moment of the question.
    const at = now()
    // Where it can't be read, the GPU load alone decides.
    const use = await question(instance).catch(() => undefined)
    if (!use) uses.delete(instance.id)
    else {
      const { secondsAgo = 0, by, load } = use
      const last = by && { at: at - secondsAgo, by }
      uses.set(instance.id, { at, ...(last && { last }), ...(load !== undefined && { load }) })
    }
    if (!quitting.aborted) heard()
  }

  return {
    /** Reads them, unless done recently; `rate` of the account's time. Does not wait. */
    ask(instances: readonly InstanceView[], rate: number): void {
      const pause = Math.max(shortestInterval, interval / rate)
      for (const instance of instances) {
        const last = askedAt.get(instance.id)
        const isSoon = last !== undefined && clock.monotonic() - last < pause
        if (quitting.aborted || isSoon || !canGetIn(instance)) continue
        askedAt.set(instance.id, clock.monotonic())
        void hear(instance)
      }
    },
    /** What was read within the time before a limit acts. */
    heard(rate: number): Uses {
      const since = now() - 2 * readsAhead(rate)
      return new Map([...uses].filter(([, { at }]) => at >= since))
    },
  }
}

/** Reads over SSH who uses an instance. */
export function askUse(context: Pick<AccountContext, 'account' | 'access' | 'platform' | 'client'>) {
  return (instance: InstanceView): Promise<UseReading | undefined> =>
    withConnection(context, instance, connection => readUse(connection, context.platform.clock))
}
