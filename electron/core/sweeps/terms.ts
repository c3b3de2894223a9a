import type { Limit } from '#shared/automation/limit.ts'
import type { AccountContext } from '../account-context.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { ProjectRun, Run } from '../runs/model.ts'
import type { RunNeeds } from '../runs/open.ts'
import type { RunSweeps } from '../runs/rooms-above.ts'
import { uncounted } from '../runs/run-rental.ts'
import type { StoredRuns } from '../runs/stored-runs.ts'
import type { Collection } from '../storage/collection.ts'
import { isSweepBusy, type Sweep, sweepCost, sweepDeadline, sweepMostInAll } from './record.ts'

/** What sweeps say of their runs, read from the records alone: neither runs nor sweeps need to work for it. */
export class SweepTerms implements RunSweeps {
  readonly #now: () => number
  readonly #sweeps: Collection<Sweep, string>
  readonly #runs: StoredRuns
  readonly #rentals: Pick<Rentals, 'find'>
  readonly #mayHaveCost: RunNeeds['mayHaveCost']

  constructor(
    { now }: Pick<AccountContext, 'now'>,
    sweeps: Collection<Sweep, string>,
    runs: StoredRuns,
    rentals: Pick<Rentals, 'find'>,
    mayHaveCost: RunNeeds['mayHaveCost'],
  ) {
    this.#mayHaveCost = mayHaveCost
    this.#now = now
    this.#sweeps = sweeps
    this.#runs = runs
    this.#rentals = rentals
  }

  isBusy(project: string, except?: string): boolean {
    return this.#sweeps
      .all()
      .some(
        sweep => sweep.project.id === project && sweep.id !== except && isSweepBusy(sweep, this.#runs.all()),
      )
  }

  limitsOf({ sweep: place, project }: ProjectRun): readonly Limit[] {
    const sweep = this.#sweeps.find(place?.id ?? '')
    if (!sweep) return project.limits
    const idle = project.limits.filter(({ when }) => when.kind === 'idle' || when.kind === 'away')
    const deadline = sweepDeadline(withOneMore(sweep, this.#now()), this.runsOf(sweep), this.#now())
    if (deadline === undefined) return idle
    const seconds = Math.max(60, Math.round(deadline - this.#now()))
    return [...idle, { when: { kind: 'duration', seconds }, action: 'stop', asleep: true }]
  }

  isSpent(id: string): boolean {
    const sweep = this.#sweeps.find(id)
    if (!sweep) return false
    const most = sweepMostInAll(sweep)
    const own = this.runsOf(sweep)
    const isReached = most !== undefined && sweepCost(sweep, own, this.#now()) >= most
    return isReached && this.#mayHaveCost(most, Math.min(...own.map(({ createdAt }) => createdAt)))
  }

  settingOf({ sweep: place }: ProjectRun): Readonly<Record<string, string>> {
    const sweep = this.#sweeps.find(place?.id ?? '')
    const number = {
      BERTH_RUN: String((place?.index ?? 0) + 1),
      BERTH_RUNS: String(sweep?.settings.length ?? 1),
    }
    return { ...sweep?.settings[place?.index ?? 0], ...number }
  }

  /** A sweep's runs, with the cost of the attempts that one is renting with. */
  runsOf({ id }: Pick<Sweep, 'id'>): readonly Run[] {
    return this.#runs
      .all()
      .filter(run => run.sweep?.id === id)
      .map(run => {
        const rental = run.step === 'waiting' ? this.#rentals.find(run.rental ?? '') : undefined
        return rental ? { ...run, attemptCost: (run.attemptCost ?? 0) + uncounted(run, rental) } : run
      })
  }
}

/** The sweep after one more machine at the agreed price, from `at` on. */
function withOneMore(sweep: Sweep, at: number): Sweep {
  const { price } = sweep.project
  if (price === undefined) return sweep
  return { ...sweep, machines: { ...sweep.machines, '': { micros: 0, at, perHour: price } } }
}
