import * as v from 'valibot'
import type { FailedMachineView } from '#contract/automation/attempts.ts'
import type { AccountContext } from '#core/account-context.ts'
import { openDocument } from '#core/storage/json-file.ts'
import type { Rental } from '../rentals/model.ts'

const FailedMachine = v.object({
  machineId: v.number(),
  hostId: v.optional(v.number()),
  times: v.number(),
  lastAt: v.number(),
  why: v.string(),
  /** The last rental that failed there, and earlier ones, so that each counts once. */
  rental: v.string(),
  earlier: v.optional(v.array(v.string())),
  /** The user forgave these failures. */
  forgiven: v.optional(v.boolean()),
})
type FailedMachine = v.InferOutput<typeof FailedMachine>

/** A rental that failed on its machine. */
export interface Failure {
  rental: string
  offer: Rental['offer']
  /** Epoch seconds of the account's time. */
  at: number
  why: string
}

/** The machines on which an account's rentals failed. */
export interface FailedMachines {
  /** Remembers the machine. A repeated call for the same rental changes nothing, even once it was forgiven. */
  blame(failure: Failure): Promise<void>
  forgive(machine: number): Promise<void>
  view(): Record<string, FailedMachineView>
  flush(): Promise<void>
}

/** The number of machines remembered, without the oldest failures, and of rentals for each. */
const mostRemembered = 500
const mostRentals = 20

export async function openFailedMachines(
  context: Pick<AccountContext, 'files' | 'folder' | 'machine' | 'onBroken'>,
): Promise<FailedMachines> {
  const document = await openDocument({
    files: context.files,
    clock: context.machine.clock,
    name: `${context.folder}/failed-machines.json`,
    schema: v.array(FailedMachine),
    empty: [],
    onBroken: context.onBroken,
  })

  return {
    async blame({ rental, offer, at, why }) {
      const { machineId, hostId } = offer
      if (machineId === undefined) return
      const known = document.get().find(host => host.machineId === machineId)
      const earlier = known ? [...(known.earlier ?? []), known.rental].slice(-mostRentals) : []
      if (earlier.includes(rental)) return
      const failed: FailedMachine = {
        machineId,
        hostId,
        times: (known && !known.forgiven ? known.times : 0) + 1,
        lastAt: at,
        why,
        rental,
        earlier: earlier.length > 0 ? earlier : undefined,
      }
      await document.record(hosts =>
        [...hosts.filter(host => host.machineId !== machineId), failed].slice(-mostRemembered),
      )
    },
    forgive: machine =>
      document.record(hosts =>
        hosts.map(host => (host.machineId === machine ? { ...host, forgiven: true } : host)),
      ),
    view: () =>
      Object.fromEntries(
        document
          .get()
          .filter(({ forgiven }) => !forgiven)
          .map(({ rental: _, earlier: __, ...host }) => [host.machineId, host]),
      ),
    flush: document.flush,
  }
}
