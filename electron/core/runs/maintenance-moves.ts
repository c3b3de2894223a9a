import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { type MaintenanceView, maintenanceWords } from '#shared/instance/maintenance.ts'
import { noticeCost } from '#shared/project/before-stop.ts'
import { dearestOf, resultsOf } from '#shared/project/bounds.ts'
import { leavesBefore } from '#shared/project/copy-first.ts'
import { storeOf } from '#shared/project/store.ts'
import type { AccountView } from '#shared/state.ts'
import type { AccountContext } from '../account-context.ts'
import { isMovable, isOfProject, type ProjectRun, type Run, runCostBy } from './model.ts'
import type { PlannedMoves } from './planned-moves.ts'
import type { RunScheduler } from './scheduler.ts'
import type { StoredRuns } from './stored-runs.ts'

/**
 * Whether a run leaves its machine now, before the maintenance that its host has announced: as often as its file lets it move,
 * with something to continue from, and where its maximum pays for both machines. One that began with that maintenance known to
 * be under way stays. `now`: epoch seconds of the account's time.
 */
export function leavesForMaintenance(
  run: Run,
  view: Pick<InstanceView, 'state' | 'pricePerHour'> | undefined,
  window: MaintenanceView | undefined,
  now: number,
): run is ProjectRun {
  if (!window || view?.state !== 'running' || !isOfProject(run) || !isMovable(run)) return false
  if (run.movingSince !== undefined || run.endedByUser || run.told) return false
  const { project, moves = 0, most = Number.POSITIVE_INFINITY, reserved = 0, begunAt = now } = run
  const { spec, price } = project
  if (moves >= (spec.outbid?.elsewhere ?? 0) || (resultsOf(spec).length === 0 && !storeOf(spec))) return false
  if (window.from - leavesBefore > now || window.until <= now || window.from <= begunAt) return false
  const hour = dearestOf(spec, price) ?? view.pricePerHour ?? 0
  const both = (view.pricePerHour ?? hour) / 2 + hour + 2 * noticeCost(spec.before_stop, hour)
  return runCostBy(run, now) + reserved + both <= most
}

/** Seconds between two searches for another machine. */
const triedEvery = 600

interface Parts {
  runs: Pick<StoredRuns, 'all'>
  plannedMoves: Pick<PlannedMoves, 'leave'>
  /** Whether no cap forbids whoever pays for it one more machine. */
  mayRentMore(run: ProjectRun): boolean
  scheduler: Pick<RunScheduler, 'hurry'>
}

export type MaintenanceMoves = ReturnType<typeof createMaintenanceMoves>

/** Moves runs before the maintenance of their machines. */
export function createMaintenanceMoves(
  {
    account,
    activity,
    now,
  }: Pick<AccountContext, 'account' | 'now'> & { activity: Pick<AccountContext['activity'], 'add'> },
  { runs, plannedMoves, mayRentMore, scheduler }: Parts,
) {
  /** When each was last tried. */
  const tried = new Map<string, number>()

  async function leave(run: ProjectRun, view: InstanceView, window: MaintenanceView): Promise<void> {
    if (!(await plannedMoves.leave(run.id))) return
    const text = `${run.name} moves from ${instanceName(view)} to another machine`
    activity.add({ account, instance: view.id, kind: 'berth', text, detail: maintenanceWords(window, now()) })
    scheduler.hurry(run.id)
  }

  return {
    onPoll({ instances, maintenances = {} }: Pick<AccountView, 'instances' | 'maintenances'>): void {
      const at = now()
      for (const run of runs.all()) {
        const view = instances[run.instance ?? '']
        const window = maintenances[run.instance ?? '']
        if (!window || !view || !leavesForMaintenance(run, view, window, at) || !mayRentMore(run)) continue
        if (Math.abs(at - (tried.get(run.id) ?? Number.NEGATIVE_INFINITY)) < triedEvery) continue
        tried.set(run.id, at)
        void leave(run, view, window).catch(() => undefined)
      }
    },
  }
}
