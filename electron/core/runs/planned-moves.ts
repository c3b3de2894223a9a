import { notMovable } from '#shared/automation/run.ts'
import { BerthError } from '#shared/problem.ts'
import { resultsOf } from '#shared/project/bounds.ts'
import { leftFor } from '#shared/project/copy-first.ts'
import { settleRun } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import type { BeforeStops } from './before-stop.ts'
import { type PlannedMove, runsOnFor } from './changes.ts'
import type { GoingOn } from './continue-failed.ts'
import { nowhereToMove } from './messages.ts'
import { isMovable, type Run } from './model.ts'
import type { RunMachines } from './remote.ts'
import type { RunProjects } from './rooms-above.ts'
import type { StoredRuns } from './stored-runs.ts'

export type PlannedMoves = ReturnType<typeof createPlannedMoves>

interface PlannedParts {
  runs: Pick<StoredRuns, 'get' | 'intend'>
  machines: Pick<RunMachines, 'inside' | 'viewOf'>
  beforeStops: Pick<BeforeStops, 'ofInstance'>
  goingOn: Pick<GoingOn, 'limitReused'>
  projects: Pick<RunProjects, 'seek'>
}

/** Moves to another machine that the user asks for, while the present one runs. */
export function createPlannedMoves(
  { account, activity, platform: { clock }, now }: AccountContext,
  { runs, machines, beforeStops, goingOn, projects }: PlannedParts,
) {
  return {
    /**
     * Resolves once that is on disk. Throws `not_movable`, and where it can't go anywhere now, as a search of the market does and
     * `no_offers`: its command goes on where it is.
     */
    async ask(id: string): Promise<void> {
      const run = runs.get(id)
      if (!isMovable(run)) throw new BerthError(notMovable)
      const { fits, cheapest } = await projects.seek(run)
      if (!fits) throw new BerthError(nowhereToMove(run.name, cheapest))
      if (!isMovable(runs.get(id))) throw new BerthError(notMovable)
      await runs.intend(id, { movingSince: run.movingSince ?? now() })
      const { instance, name } = run
      activity.add({ account, instance, kind: 'user', text: `Asked to move ${name} to another machine` })
    },
    /** The same by Berth itself: whether it moves, which it doesn't while no machine within its price is free. */
    async leave(id: string): Promise<boolean> {
      const run = runs.get(id)
      if (!isMovable(run) || !(await projects.seek(run)).fits || !isMovable(runs.get(id))) return false
      await runs.intend(id, { movingSince: runs.get(id).movingSince ?? now() })
      return true
    },
    /**
     * Ends the command on the machine, which goes on running for a while. May be repeated. Undefined where the machine doesn't
     * run.
     */
    async prepare({ id, instance, program, place: folder, project }: Run): Promise<PlannedMove | undefined> {
      const view = machines.viewOf(instance)
      if (!project || view?.state !== 'running' || program === undefined || folder === undefined)
        return undefined
      await beforeStops.ofInstance(view.id)
      // Its user ends it here instead.
      if (runs.get(id).movingSince === undefined) return undefined
      const paths = resultsOf(project.spec)
      const isWhole = await machines
        .inside({ instance }, connection => settleRun(connection, clock, program, { folder, paths }))
        .catch(() => false)
      // Also while this computer sleeps.
      const when = { kind: 'duration' as const, seconds: runsOnFor }
      await goingOn.limitReused(view, [{ when, action: 'stop', asleep: true }], true)
      const { pricePerHour = 0, diskPricePerHour = 0 } = view
      const most = pricePerHour * runsOnFor + diskPricePerHour * leftFor(project.spec)
      return { whole: isWhole ?? false, reserve: Math.ceil(most / 3600) }
    },
  }
}
