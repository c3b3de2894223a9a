import type { AccountContext } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import type { StoredLimits } from '../limits/model.ts'
import { rentedWith } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { Watchdogs } from '../watchdogs/perform.ts'
import { runAlertsOf } from './alerts.ts'
import { BeforeStops } from './before-stop.ts'
import { GoingOn } from './continue-failed.ts'
import { RunEnds } from './ends.ts'
import { RunFacts } from './facts.ts'
import { createMaintenanceMoves } from './maintenance-moves.ts'
import type { ProjectRun } from './model.ts'
import { NewRuns } from './new-runs.ts'
import { RunNodes } from './nodes.ts'
import { createOutputs } from './output.ts'
import { createPlannedMoves } from './planned-moves.ts'
import { RunPrograms } from './programs.ts'
import { RunMachines } from './remote.ts'
import { RunRemoval } from './removal.ts'
import type { RunProjects, RunSweeps } from './rooms-above.ts'
import { RunFolders } from './run-folders.ts'
import { RunRental } from './run-rental.ts'
import { RunScheduler } from './scheduler.ts'
import { Runs } from './service.ts'
import { RunSteps } from './steps.ts'
import type { StoredRuns } from './stored-runs.ts'
import { TimedRuns } from './timed-runs.ts'
import { openWaitingMachines } from './waiting-machines.ts'
import { RunWatchdog } from './watchdog.ts'

/** What runs need of other rooms, besides the account. */
export interface RunNeeds {
  runs: StoredRuns
  watchdogs: Watchdogs
  rentals: Pick<Rentals, 'find' | 'cancel' | 'dismiss' | 'ofInstance'>
  limits: Pick<StoredLimits, 'all' | 'put' | 'forget'>
  projects: RunProjects
  sweeps: RunSweeps
  departures: Departures
  /** Whether no cap forbids whoever pays for a run one more machine. */
  mayRentMore(run: ProjectRun): boolean
  /** Whether what left the account since then, in epoch seconds, allows for such a cost. */
  mayHaveCost(cost: number, since: number): boolean
}

/** Opens what works on the runs of an account, each before what needs it. */
export async function openRuns(context: AccountContext, needs: RunNeeds): Promise<Runs> {
  const { runs, watchdogs, rentals, limits, projects, sweeps, departures, mayHaveCost } = needs
  const outputs = createOutputs(context.files, `${context.folder}/runs`, runs)
  const alerts = runAlertsOf(context)
  const { note } = alerts
  const machines = new RunMachines(context)
  const watchdog = new RunWatchdog(context, { watchdogs, runs, machines, alerts })
  const beforeStops = new BeforeStops(context, { runs, machines })
  const folders = new RunFolders(context, { runs, machines, watchdog, alerts, projects, sweeps })
  const nodes = new RunNodes(context, { runs, machines, projects })
  const programs = new RunPrograms(context, {
    runs,
    machines,
    watchdog,
    alerts,
    rentedWith: (instance = 0) => rentedWith(rentals.ofInstance(instance)?.rental, context.record(instance)),
    outputOf: outputs.of,
    nodes,
    folders,
    departures,
  })
  const waiting = await openWaitingMachines(context, { runs, machines, limits, watchdogs, note })
  const goingOn = new GoingOn(context, { runs, machines, limits, outputs, sweeps })
  const plannedMoves = createPlannedMoves(context, { runs, machines, beforeStops, goingOn, projects })
  const timed = new TimedRuns(context, runs)
  const rental = new RunRental(context, rentals, machines)
  const sources = { runs, machines, nodes, rentals, limits, departures, sweeps, mayHaveCost }
  const facts = new RunFacts(context, sources)
  const ends = new RunEnds(context, {
    runs,
    alerts,
    machines,
    watchdog,
    nodes,
    facts,
    rental,
    waiting,
    folders,
  })
  const steps = new RunSteps(context, {
    runs,
    alerts,
    machines,
    watchdog,
    programs,
    folders,
    projects,
    sweeps,
    nodes,
    facts,
    ends,
    rental,
    timed,
    departures,
    beforeStops,
    plannedMoves,
  })
  const scheduler = new RunScheduler(context, { runs, facts, steps, nodes, departures, folders })
  const { mayRentMore } = needs
  const maintenanceMoves = createMaintenanceMoves(context, { runs, plannedMoves, mayRentMore, scheduler })
  const removal = new RunRemoval(context, { runs, outputs, machines, watchdog, nodes })
  const begin = new NewRuns(context, {
    runs,
    machines,
    nodes,
    waiting,
    goingOn,
    sweeps,
    facts,
    removal,
    scheduler,
  })
  return new Runs(context, {
    runs,
    outputs,
    alerts,
    machines,
    watchdog,
    beforeStops,
    folders,
    waiting,
    goingOn,
    plannedMoves,
    maintenanceMoves,
    timed,
    ends,
    steps,
    scheduler,
    removal,
    begin,
  })
}
