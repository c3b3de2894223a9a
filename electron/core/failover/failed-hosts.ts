import * as v from 'valibot'
import type { FailedHostView } from '../../contract/automation/failover.ts'
import { type DocumentOptions, openDocument } from '../remember/document.ts'
import type { Try } from './failover.ts'

const FailedHost = v.object({
  machineId: v.number(),
  hostId: v.exactOptional(v.number()),
  times: v.number(),
  lastAt: v.number(),
  why: v.string(),
  /** The rental that failed there last, so that one failure counts once. */
  rental: v.string(),
})
type FailedHost = v.InferOutput<typeof FailedHost>

/** The machines of one account's market on which tries came to nothing. */
export interface FailedHosts {
  /** Remembers the machine of a try that was dropped. A second time for the same try changes nothing. */
  blame(failed: Try): Promise<void>
  forgive(machine: number): Promise<void>
  view(): Record<string, FailedHostView>
  flush(): Promise<void>
}

/** Machines remembered; the oldest failures make room. */
const mostRemembered = 500

export async function openFailedHosts(
  around: Pick<DocumentOptions<v.GenericSchema>, 'files' | 'clock' | 'name' | 'onBroken'>,
): Promise<FailedHosts> {
  const document = await openDocument({ ...around, schema: v.array(FailedHost), empty: [] })

  return {
    async blame({ rental, offer, drop }) {
      const { machineId, hostId } = offer
      if (machineId === undefined || !drop) return
      const known = document.get().find(host => host.machineId === machineId)
      if (known?.rental === rental) return
      const failed: FailedHost = {
        machineId,
        ...(hostId === undefined ? {} : { hostId }),
        times: (known?.times ?? 0) + 1,
        lastAt: drop.at,
        why: drop.why.message,
        rental,
      }
      await document.record(hosts =>
        [...hosts.filter(host => host.machineId !== machineId), failed].slice(-mostRemembered),
      )
    },
    forgive: machine => document.record(hosts => hosts.filter(({ machineId }) => machineId !== machine)),
    view: () => Object.fromEntries(document.get().map(({ rental: _, ...host }) => [host.machineId, host])),
    flush: document.flush,
  }
}
