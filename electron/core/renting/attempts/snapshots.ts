import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { AccountContext } from '../../account-context.ts'
import { stopperOf as guardThatStops, stoppedBy } from '../../guards/guard-veto.ts'
import type { StoredGuards } from '../../guards/stored-guards.ts'
import { pollsUntilGone } from '../../instances/missing-instances.ts'
import type { Rental } from '../rentals/model.ts'
import type { Snapshot, Stopper } from './decide.ts'
import { type Failover, openAttempt } from './model.ts'

/** What a fresh answer showed of the instances. */
export type Instances = Readonly<Record<string, InstanceView>>

/** What is known of the tries that are under way and is not on disk: whether SSH answers, and what is missing. */
export interface Snapshots {
  of(failover: Failover, rental: Rental | undefined, instances: Instances): Snapshot
  /** Counts how long the instance of a failover's try is missing. */
  onPoll(failover: Failover, instances: Instances, unconfirmed?: ReadonlySet<number>): void
  /** Asks whether SSH answers; `heard` is called once it does. */
  probeSsh(failover: Failover, instances: Instances, heard: () => void): void
  forget(rental: string): void
}

export function createSnapshots(
  { account, store, access, client, now }: AccountContext,
  guards: Pick<StoredGuards, 'actedOn'>,
): Snapshots {
  /** By rental; `missing` counts polls in a row. */
  const ssh = new Map<string, Snapshot['ssh']>()
  const missing = new Map<string, number>()

  /** The guard that has stopped an instance, or stops it at the next poll. */
  function stopperOf(instance: number): Stopper | undefined {
    const guard = guards.actedOn(instance) ?? guardThatStops(store.get().accounts[account], instance, now())
    return guard && { why: stoppedBy(guard), alone: guard.instance !== undefined }
  }

  return {
    of(failover, rental, instances) {
      const current = openAttempt(failover)?.rental ?? ''
      return {
        now: now(),
        stopper: rental?.instance === undefined ? undefined : stopperOf(rental.instance),
        rental,
        instance: instances[rental?.instance ?? ''],
        gone: (missing.get(current) ?? 0) >= pollsUntilGone,
        ssh: ssh.get(current) ?? 'unasked',
      }
    },
    onPoll(failover, instances, unconfirmed) {
      const current = openAttempt(failover)
      if (current?.instance === undefined || unconfirmed?.has(current.instance)) return
      const absent = instances[current.instance] ? 0 : (missing.get(current.rental) ?? 0) + 1
      missing.set(current.rental, absent)
    },
    probeSsh(failover, instances, heard) {
      const current = openAttempt(failover)
      const instance = instances[current?.instance ?? '']
      if (!current || !instance || ssh.get(current.rental) === 'asking') return
      const { rental } = current
      ssh.set(rental, 'asking')
      access.probe({ account, instance, client: client() }).then(
        () => {
          ssh.set(rental, 'answered')
          heard()
        },
        // It is asked again after the next look.
        () => ssh.set(rental, 'silent'),
      )
    },
    forget(rental) {
      ssh.delete(rental)
      missing.delete(rental)
    },
  }
}
