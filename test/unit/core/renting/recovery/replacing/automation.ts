import * as v from 'valibot'
import { createFailovers, type Failovers } from '../../../../../../electron/core/renting/attempts/attempts.ts'
import { Failover } from '../../../../../../electron/core/renting/attempts/attempts-model.ts'
import { openFailedHosts } from '../../../../../../electron/core/renting/attempts/failed-hosts.ts'
import {
  createRecoveries,
  type Recoveries,
} from '../../../../../../electron/core/renting/recovery/recoveries.ts'
import { Recovery } from '../../../../../../electron/core/renting/recovery/recovery.ts'
import type { KeptRentals } from '../../../../../../electron/core/renting/rentals/open-rentals.ts'
import { openDocument } from '../../../../../../electron/core/storage/json-file.ts'
import type { Ground, OneBerth, Seen } from '../../../plain-service/one-berth.ts'
import type { PlainService } from '../../../plain-service/service.ts'
import type { Turns } from '../../../plain-service/turns.ts'

interface Replacing {
  failovers: Failovers
  recoveries: Recoveries
  /** All failovers that it remembers. */
  all(): readonly Failover[]
  looked(seen: Seen): void
  secretOwners(): readonly string[]
}

export type ReplacingBerth = OneBerth<Replacing>

/** Failovers and recoveries of one account, as a process of Berth has them. */
export async function openReplacing(
  ground: Ground,
  rentals: KeptRentals,
  service: PlainService,
  turns: Turns,
): Promise<Replacing> {
  const [failing, recovering, hosts] = await Promise.all([
    openDocument({ ...ground, name: 'failovers.json', schema: v.array(Failover), empty: [] }),
    openDocument({ ...ground, name: 'recoveries.json', schema: v.record(v.string(), Recovery), empty: {} }),
    openFailedHosts({ ...ground, name: 'hosts.json' }),
  ])
  let latest: Seen = { instances: {}, records: [] }
  const failovers = createFailovers({
    ...ground,
    document: failing,
    hosts,
    rentals,
    // Guards have a model of their own.
    heldBack: () => undefined,
    stopperOf: () => undefined,
    async knock({ id }) {
      await turns.take(ground.ending)
      if (service.book.get(id)?.fate !== 'good') throw new Error('shut')
    },
    tell: () => undefined,
  })
  const recoveries = createRecoveries({
    ...ground,
    document: recovering,
    failovers,
    rentals,
    heldBack: () => undefined,
    record: id => latest.records.find(record => record.id === id),
    tell: () => undefined,
  })
  return {
    failovers,
    recoveries,
    all: failing.get,
    looked(seen) {
      latest = seen
      failovers.looked(seen.instances)
      recoveries.looked(seen)
    },
    secretOwners: () => failing.get().flatMap(({ id, step }) => (step === 'trying' ? id : [])),
  }
}
