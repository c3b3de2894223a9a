import type { AccountContext, AccountPoll, Automation } from '#core/account-context.ts'
import { openTransfers } from '#core/copies/perform.ts'
import { Departures } from '#core/departures/perform.ts'
import { createLoadHistory } from '#core/instances/load-history.ts'
import { openNotes } from '#core/instances/notes.ts'
import { Ledger } from '#core/ledger/perform.ts'
import { askGpuMetrics } from '#core/limits/gpu-loads.ts'
import { openStoredLimits } from '#core/limits/model.ts'
import { openLimits } from '#core/limits/service.ts'
import { openCharges } from '#core/money/charges.ts'
import { openMoney } from '#core/money/money.ts'
import { openPriceIncreases } from '#core/money/price-increases.ts'
import { createProjectRuns, createRunProjects } from '#core/projects/service.ts'
import { Recoveries } from '#core/recoveries/perform.ts'
import { isProven, isRetrying, isUnderWay } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { openRunsAndSweeps } from '#core/sweeps/perform.ts'
import { openUndoableActions } from '#core/undoable-actions.ts'
import { Watchdogs } from '#core/watchdogs/perform.ts'
import { openWatchdogOwner, type StoredWatchdogs } from '#core/watchdogs/record.ts'
import { Watches } from '#core/watches/perform.ts'
import { dearestOf } from '#shared/project/bounds.ts'
import { createGpuMetricsReader } from './gpu-metrics.ts'
import { openMaintenances } from './maintenances.ts'
import type { SessionContext } from './session-context.ts'
import { openVolumes } from './volumes.ts'

/** All parts that work for one account and get each poll, with everything that acts automatically. */
export type Automations = Awaited<ReturnType<typeof openAutomations>>

/** Opens all parts with their stored data. None acts before the first poll. */
export async function openAutomations(
  context: AccountContext,
  { onCreated, forProjects, tellOf }: Pick<SessionContext, 'onCreated' | 'forProjects' | 'tellOf'>,
  storedWatchdogs: StoredWatchdogs,
) {
  const loadHistory = createLoadHistory()
  const transfers = await openTransfers(context)
  const gpuMetrics = createGpuMetricsReader(context, loadHistory, askGpuMetrics(context))
  const money = await openMoney(context, await openCharges(context))
  const priceIncreases = await openPriceIncreases(context)
  const maintenances = await openMaintenances(context)
  const volumes = await openVolumes(context)
  const storedLimits = await openStoredLimits(context)
  const watchdogs = new Watchdogs(
    context,
    storedWatchdogs,
    storedLimits,
    (instance, request) => limits.adopt(instance, request),
    tellOf,
    await openWatchdogOwner(context),
    instance => rentals.ofInstance(instance) !== undefined,
  )
  const ledger = await Ledger.open(context, mark => {
    const attempt = rentals.attempt(mark)
    return attempt && { instance: attempt.instance, isOpen: isUnderWay(attempt) && !isProven(attempt) }
  })
  const rentals = await openRentals(
    context,
    {
      ledger,
      mostOf: group => sweeps.mostOf(group),
      onCreated: (instance, instanceKey) => onCreated(context.client(), instance, instanceKey),
      limit: (...args) => limits.limitRental(...args),
      recover: (...args) => recoveries.recoverRental(...args),
    },
    storedLimits,
    maintenances.soonDown,
  )
  const departures = await Departures.open(context, transfers)
  const { runs, sweeps } = await openRunsAndSweeps(context, {
    departures,
    watchdogs,
    rentals,
    limits: storedLimits,
    mayHaveCost: money.mayHaveCost,
    mayRentMore: ({ project: { by, spec, price } }) =>
      ledger.refusal(by, ledger.need(dearestOf(spec, price))) === undefined,
    projects: createRunProjects(context, { ...forProjects, rentals, transfers }),
  })
  const limits = await openLimits(context, {
    limits: storedLimits,
    spending: money,
    wasAttempted(instance) {
      const rental = rentals.ofInstance(instance)?.rental
      return rental !== undefined && isRetrying(rental) && rental.step === 'trying'
    },
    before: target => runs.beforeLimit(target),
    watchdogs,
  })
  const actions = await openUndoableActions(
    context,
    instance => limits.startAgain(instance),
    instance => runs.beforeStopByUser(instance),
  )
  const notes = await openNotes(context)
  const recoveries = await Recoveries.open(context, rentals)
  const watches = await Watches.open(context, rentals, runs.begin)
  /** In the order in which they get a poll: later ones may depend on the results of earlier ones. */
  const all: readonly (Pick<Automation, 'onPoll'> & Partial<Automation>)[] = [
    loadHistory,
    transfers,
    money,
    priceIncreases,
    maintenances,
    volumes,
    ledger,
    limits,
    rentals,
    recoveries,
    watches,
    watchdogs,
    departures,
    runs,
    sweeps,
    actions,
    gpuMetrics,
  ]
  return {
    loadHistory,
    transfers,
    gpuMetrics,
    actions,
    money,
    priceIncreases,
    ledger,
    rentals,
    recoveries,
    limits,
    notes,
    watches,
    watchdogs,
    runs,
    sweeps,
    projectRuns: createProjectRuns(context, { ...forProjects, rentals, runs, sweeps, transfers }),
    onPoll: (poll: AccountPoll) => {
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
    dueAt: (after: number) =>
      Math.min(...all.map(automation => automation.dueAt?.(after) ?? Number.POSITIVE_INFINITY)),
    async flush() {
      await Promise.all(all.map(automation => automation.flush?.()))
    },
  }
}
