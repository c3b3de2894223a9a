import type { AccountContext, Automation } from '#core/account-context.ts'
import type { UndoableActions } from '#core/actions/undoable-actions.ts'
import type { LoadRecorder } from '#core/instances/load-history.ts'
import { type Notes, openNotes } from '#core/instances/notes.ts'
import { openStoredLimits } from '#core/limits/model.ts'
import { type Limits, openLimits } from '#core/limits/service.ts'
import { openWatchdogs, type Watchdogs } from '#core/limits/watchdog.ts'
import type { StoredWatchdogs } from '#core/limits/watchdog-decide.ts'
import { openCharges } from '#core/money/charges.ts'
import { type Money, openMoney } from '#core/money/money.ts'
import { openPriceIncreases, type PriceIncreases } from '#core/money/price-increases/price-increases.ts'
import type { Projects } from '#core/projects/projects.ts'
import type { ProjectSecrets } from '#core/projects/secrets.ts'
import { type Jobs, openJobs } from '#core/projects/service.ts'
import { type Attempts, openAttempts } from '#core/renting/attempts/service.ts'
import { openRecoveries, type Recoveries } from '#core/renting/recovery/service.ts'
import type { Rentals } from '#core/renting/rentals/service.ts'
import { openRuns, type Runs } from '#core/runs/service.ts'
import type { Transfers } from '#core/transfers/service.ts'
import { openWatches, type Watches } from '#core/watches/service.ts'
import type { GpuMetricsReader } from './gpu-metrics.ts'

/** The parts that work for one account and get each poll. */
export interface AccountParts {
  readonly loadHistory: LoadRecorder
  readonly rentals: Rentals
  readonly transfers: Transfers
  readonly actions: UndoableActions
  readonly gpuMetrics: GpuMetricsReader
}

/** The same, with everything that acts by itself. */
export interface Automations extends AccountParts, Required<Automation> {
  readonly attempts: Attempts
  readonly recoveries: Recoveries
  readonly watches: Watches
  readonly watchdogs: Watchdogs
  readonly runs: Runs
  readonly jobs: Jobs
  readonly money: Money
  readonly priceIncreases: PriceIncreases
  readonly limits: Limits
  readonly notes: Notes
}

/** Opens all parts with their stored data. None acts before the first poll. */
export async function openAutomations(
  context: AccountContext,
  parts: AccountParts,
  storedWatchdogs: StoredWatchdogs,
  forProjects: { projects: Projects; secrets: ProjectSecrets },
): Promise<Automations> {
  const { loadHistory, rentals, transfers, actions, gpuMetrics } = parts
  const money = await openMoney(context, await openCharges(context))
  const priceIncreases = await openPriceIncreases(context)
  const storedLimits = await openStoredLimits(context)
  const watchdogs = openWatchdogs(context, storedWatchdogs)
  const attempts = await openAttempts(context, rentals, storedLimits)
  const runs = await openRuns(context, watchdogs, rentals, attempts)
  const jobs = await openJobs(context, { ...forProjects, attempts, runs, limits: storedLimits })
  const limits = await openLimits(context, {
    limits: storedLimits,
    spending: money,
    ownerOf: instance => rentals.ofInstance(instance)?.owner,
    before: async target => (jobs.mustKeep(target.instance) ? 'stop' : runs.spares(target)),
    changed: (before, after) => void watchdogs.follow(before, after),
  })
  const notes = await openNotes(context)
  const recoveries = await openRecoveries(context, rentals, attempts)
  const watches = await openWatches(context, attempts, runs)
  /** In the order in which they get a poll: later ones may depend on the results of earlier ones. */
  const all: readonly (Pick<Automation, 'onPoll'> & Partial<Automation>)[] = [
    loadHistory,
    rentals,
    transfers,
    money,
    priceIncreases,
    limits,
    attempts,
    recoveries,
    watches,
    watchdogs,
    runs,
    jobs,
    actions,
    gpuMetrics,
  ]
  return {
    ...parts,
    money,
    priceIncreases,
    attempts,
    recoveries,
    limits,
    notes,
    watches,
    watchdogs,
    runs,
    jobs,
    onPoll: poll => {
      const shown = () => context.store.get().accounts[context.account] ?? poll.account
      for (const automation of all) automation.onPoll({ ...poll, account: shown() })
    },
    show: () => {
      notes.show()
      for (const automation of all) automation.show?.()
    },
    resume: () => {
      for (const automation of all) automation.resume?.()
    },
    secretOwners: () => all.flatMap(automation => automation.secretOwners?.() ?? []),
    dueAt: after => Math.min(...all.map(automation => automation.dueAt?.(after) ?? Number.POSITIVE_INFINITY)),
    async flush() {
      await Promise.all(all.map(automation => automation.flush?.()))
    },
  }
}
