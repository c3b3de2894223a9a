import type { RecoveryView } from '../../../../../../electron/contract/automation/recovery.ts'
import type { InstanceTarget } from '../../../../../../electron/core/access/access.ts'
import type { AccountContext } from '../../../../../../electron/core/account-context.ts'
import { type Failovers, openFailovers } from '../../../../../../electron/core/renting/attempts/service.ts'
import { openRecoveries, type Recoveries } from '../../../../../../electron/core/renting/recovery/service.ts'
import type { Rentals } from '../../../../../../electron/core/renting/rentals/service.ts'
import type { Instance } from '../../../../../../electron/service/instances.ts'
import { account, freshAnswer } from '../../../account-context.ts'
import type { OneBerth, Seen } from '../../../plain-service/one-berth.ts'
import type { PlainService } from '../../../plain-service/service.ts'
import type { Turns } from '../../../plain-service/turns.ts'

interface Replacing {
  failovers: Failovers
  recoveries: Pick<Recoveries, 'choose'>
  /** The recoveries as State shows them. */
  view(): Readonly<Record<string, RecoveryView>>
  onPoll(seen: Seen): void
  secretOwners(): readonly string[]
}

export type ReplacingBerth = OneBerth<Replacing>

/** Failovers and recoveries of one account, as a process of Berth has them. */
export async function openReplacing(
  given: AccountContext,
  rentals: Rentals,
  service: PlainService,
  turns: Turns,
): Promise<Replacing> {
  let records: readonly Instance[] = []
  const context: AccountContext = {
    ...given,
    record: id => records.find(record => record.id === id),
    access: {
      async probe({ instance: { id } }: InstanceTarget) {
        await turns.take(given.ending)
        if (service.book.get(id)?.fate !== 'good') throw new Error('shut')
      },
    } as unknown as AccountContext['access'],
  }
  // Guards have a model of their own.
  const failovers = await openFailovers(context, rentals, { actedOn: () => undefined })
  const recoveries = await openRecoveries(context, rentals, failovers)
  return {
    failovers,
    recoveries,
    view: () => given.store.get().accounts[account]?.recoveries ?? {},
    onPoll(seen) {
      records = seen.records
      const answer = freshAnswer(given, seen.instances, records, given.now())
      failovers.onPoll(answer)
      recoveries.onPoll(answer)
    },
    secretOwners: () => failovers.secretOwners?.() ?? [],
  }
}
