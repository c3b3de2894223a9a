import type { InstanceView } from '#contract/instance/instance.ts'
import type { Access } from '#core/access/access.ts'
import type { InstanceTarget } from '#core/access/enter.ts'
import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-polls.ts'
import type { StoredLimits } from '#core/limits/model.ts'
import { stopperOf as limitThatStops, stoppedBy } from '#core/limits/veto.ts'
import type { Rental } from '../rentals/model.ts'
import type { AttemptSnapshot, Stopper } from './decide.ts'
import { type AttemptSeries, openAttempt } from './model.ts'

/** The instances in the latest poll. */
export type InstanceSnapshots = Readonly<Record<string, InstanceView>>

/** The facts about present attempts that are not stored: whether SSH lets Berth in, and which instances are gone. */
export interface AttemptSnapshots {
  instances(): InstanceSnapshots
  of(series: AttemptSeries, rental: Rental | undefined): AttemptSnapshot
  /** Takes in a poll. */
  onPoll(trying: readonly AttemptSeries[], poll: AccountPoll): void
  /** Checks whether SSH lets Berth in; `heard` is called once it does. */
  probeSsh(series: AttemptSeries, heard: () => void): void
  forget(rental: string): void
}

export function createAttemptSnapshots(
  { account, store, access, client, now }: AccountContext,
  limits: Pick<StoredLimits, 'actedOn'>,
): AttemptSnapshots {
  let instances: InstanceSnapshots = {}
  /** By rental. */
  const ssh = new Map<string, AttemptSnapshot['ssh']>()
  const gone = new Set<string>()

  /** The limit that stopped an instance, or will at the next poll. */
  function stopperOf(instance: number): Stopper | undefined {
    const limit = limits.actedOn(instance) ?? limitThatStops(store.get().accounts[account], instance, now())
    return limit && { why: stoppedBy(limit), alone: limit.instance !== undefined }
  }

  return {
    instances: () => instances,
    of(series, rental) {
      const current = openAttempt(series)?.rental ?? ''
      return {
        now: now(),
        stopper: rental?.instance === undefined ? undefined : stopperOf(rental.instance),
        rental,
        instance: instances[rental?.instance ?? ''],
        gone: gone.has(current),
        ssh: ssh.get(current) ?? 'unasked',
      }
    },
    onPoll(trying, { account: seen, pollsMissing }) {
      instances = seen.instances
      for (const series of trying) {
        const { rental, instance } = openAttempt(series) ?? {}
        if (rental === undefined || instance === undefined) continue
        if (pollsMissing(instance) >= pollsUntilGone) gone.add(rental)
        else gone.delete(rental)
      }
    },
    probeSsh(series, heard) {
      const current = openAttempt(series)
      const instance = instances[current?.instance ?? '']
      if (!current || !instance || ssh.get(current.rental) === 'asking') return
      const { rental } = current
      ssh.set(rental, 'asking')
      letsIn(access, { account, instance, client: client() }).then(
        () => {
          ssh.set(rental, 'answered')
          heard()
        },
        // Repeated after the next poll.
        () => ssh.set(rental, 'silent'),
      )
    },
    forget(rental) {
      ssh.delete(rental)
      gone.delete(rental)
    },
  }
}

/** Rejects while nobody can log in. What only the user can answer, as a changed host key, is not the machine's fault. */
async function letsIn(access: Pick<Access, 'probe' | 'connect'>, target: InstanceTarget): Promise<void> {
  await access.probe(target)
  try {
    const lease = await access.connect(target)
    lease.release()
  } catch (error) {
    if (problemOf(error).code === 'key_refused') throw error
  }
}
