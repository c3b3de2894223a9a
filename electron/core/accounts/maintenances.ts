import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import { isDeepEqual } from '#core/storage/store.ts'
import type { Maintenance } from '#service/machines.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { MaintenanceView } from '#shared/instance/maintenance.ts'
import { RareReading } from './rare-reading.ts'

/** Seconds after its begin at which the maintenance of a machine that the account has left is forgotten. */
const forgotten = 86_400
/** Seconds before its maintenance from which a machine is rented only if there is no other. */
const avoidedFor = 86_400

/** The maintenance that hosts have announced for the account's machines, in State. Its alerts come from polls. */
export async function openMaintenances(context: AccountContext) {
  const { account, store, quitting } = context
  let windows: readonly Maintenance[] = []
  /** Machines of the account, and those of them that were asked for. */
  let machines: readonly number[] = []
  let asked: readonly number[] = []
  const reading = await RareReading.open(context, 'maintenances', async () => {
    const of = machines
    asked = of
    const found = await context.client().machines.maintenances(of, { signal: quitting, retries: 1 })
    if (quitting.aborted) return
    // Those of machines that the account has left are still announced.
    const others = windows.filter(
      ({ machine_id, start_time }) => !of.includes(machine_id) && start_time > context.now() - forgotten,
    )
    windows = [...others, ...found]
    show()
  })

  function show(): void {
    const before = store.get().accounts[account]
    if (quitting.aborted || !before) return
    const views = nextWindows(windows, Object.values(before.instances), context.now())
    if (isDeepEqual(before.maintenances ?? {}, views)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.maintenances = views
    })
  }

  return {
    /** The machines whose maintenance is under way or begins within a day. */
    soonDown(): ReadonlySet<number> {
      const now = context.now()
      const soon = windows.filter(window => {
        const { from, until } = windowView(window)
        return until > now && from < now + avoidedFor
      })
      return new Set(soon.map(({ machine_id }) => machine_id))
    },
    onPoll({ account: { instances }, at }: AccountPoll): void {
      show()
      machines = machinesOf(Object.values(instances))
      if (machines.length > 0)
        reading.onPoll(
          at,
          machines.some(machine => !asked.includes(machine)),
        )
    },
    resume: () => reading.resume(),
    flush: () => reading.flush(),
  }
}

function machinesOf(instances: readonly InstanceView[]): number[] {
  return [...new Set(instances.flatMap(({ machineId }) => machineId ?? []))]
}

/** The first window of each instance's machine that isn't over. `now`: epoch seconds of the account's time. */
export function nextWindows(
  windows: readonly Maintenance[],
  instances: readonly Pick<InstanceView, 'id' | 'machineId'>[],
  now: number,
): Record<string, MaintenanceView> {
  const shown = windows
    .map(window => ({ machine: window.machine_id, view: windowView(window) }))
    .filter(({ view }) => view.until > now)
    .toSorted((a, b) => a.view.from - b.view.from)
  return Object.fromEntries(
    instances.flatMap(({ id, machineId }) => {
      const first = shown.find(({ machine }) => machine === machineId)
      return first ? [[String(id), first.view]] : []
    }),
  )
}

function windowView({
  start_time: from,
  duration_hours,
  maintenance_category,
}: Maintenance): MaintenanceView {
  const hours = Math.min(Math.max(duration_hours ?? 1, 0), 10_000)
  return { from, until: from + hours * 3600, category: cleanLine(maintenance_category) }
}
