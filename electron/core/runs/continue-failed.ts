import type { Limit } from '#shared/automation/limit.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import { boundOf, dollarsOf, limitsAt, mostUntilStopped } from '#shared/project/bounds.ts'
import { micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { limitOfRental } from '../limits/changes.ts'
import type { StoredLimits } from '../limits/model.ts'
import { alertId } from './alerts.ts'
import type { RunChange } from './changes.ts'
import { machineGone, notFailed, projectBusy } from './messages.ts'
import { isBusy, machineLimits, type ProjectRun, type Run, runCostBy } from './model.ts'
import type { RunOutputs } from './output.ts'
import type { RunMachines } from './remote.ts'
import type { RunSweeps } from './rooms-above.ts'
import type { StoredRuns } from './stored-runs.ts'

interface GoingOnParts {
  runs: StoredRuns
  machines: Pick<RunMachines, 'viewOf'>
  limits: Pick<StoredLimits, 'all' | 'put' | 'forget'>
  outputs: RunOutputs
  sweeps: Pick<RunSweeps, 'isBusy' | 'limitsOf'>
}

/** How failed runs of projects resume, and the limits of a machine that is used again. */
export class GoingOn {
  readonly #context: AccountContext
  readonly #parts: GoingOnParts

  constructor(context: AccountContext, parts: GoingOnParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Sets limits on a machine that a run uses again or leaves, in the place of those of the run before. */
  async limitReused(there: InstanceView, agreed: readonly Limit[], leaving?: true): Promise<void> {
    const { limits } = this.#parts
    const kinds = new Set(agreed.map(({ when }) => when.kind))
    const before = limits
      .all()
      .filter(limit => limit.instance === there.id && !limit.ended && limit.action === 'stop')
      .filter(({ when }) => kinds.has(when.kind) || when.kind === 'time')
    await limits.put(...agreed.map(limit => ({ ...this.#fresh(limit, there), ...(leaving && { leaving }) })))
    for (const { id } of before) await limits.forget(id)
  }

  /** Throws `project_busy` while a run of the project is in progress, other than those of `except`'s sweep. */
  refuseIfBusy(project: string, except?: Run): void {
    const { runs, sweeps } = this.#parts
    const others = runs
      .all()
      .filter(run => run.project?.id === project && run.id !== except?.id)
      .filter(({ sweep }) => sweep === undefined || sweep.id !== except?.sweep?.id)
    if (others.some(isBusy) || sweeps.isBusy(project, except?.sweep?.id)) throw new BerthError(projectBusy)
  }

  /** Resumes a failed run with a change, and sets its limits again; its next turn then continues. `what`: the verb before its name. */
  async goOn(run: ProjectRun, what: string, change: RunChange): Promise<void> {
    const { activity, account, notifications } = this.#context
    const { runs, outputs } = this.#parts
    const { id, instance, name, setupProgram, program } = run
    const anew = await this.#limitAnew(run)
    await runs.intend(id, { ...change, ...anew })
    const after = runs.get(id)
    if (program !== undefined && after.program === undefined) await outputs.delete(program)
    if (setupProgram !== undefined && after.setupProgram === undefined) await outputs.delete(setupProgram)
    activity.add({ account, instance, kind: 'user', text: `Asked to ${what} ${name}` })
    notifications.withdraw(alertId(account, run))
  }

  /**
   * The run's machine, where it has one. Throws `not_failed`, `project_busy`, or `no_such_instance`: another machine costs
   * money again, so that takes a new run that the user agrees to.
   */
  refuseUnlessFailed(run: ProjectRun): InstanceView | undefined {
    const { machines } = this.#parts
    if (run.step !== 'failed') throw new BerthError(notFailed)
    this.refuseIfBusy(run.project.id, run)
    const view = machines.viewOf(run.instance)
    if (run.instance !== undefined && !view) throw new BerthError(machineGone)
    return view
  }

  /** A stop from now on: a duration counts from now, a cost on top of what the machine has cost. */
  #fresh({ when, ...stop }: Limit, there: InstanceView) {
    const { now } = this.#context
    const { limits } = this.#parts
    const { rental } = limits.all().findLast(one => one.instance === there.id && one.rental) ?? {}
    const soFar = there.spent.micros / 1_000_000
    return limitOfRental(
      { ...stop, when: when.kind === 'cost' ? { ...when, dollars: when.dollars + soFar } : when },
      { id: `g${this.#context.newId()}`, instance: there.id, rental },
      now(),
    )
  }

  /**
   * Sets the agreed limits again that have ended, before the machine starts again. Resolves with what changes of
   * the run.
   */
  async #limitAnew(run: ProjectRun): Promise<RunChange> {
    const { now } = this.#context
    const { machines, sweeps, limits } = this.#parts
    const there = machines.viewOf(run.instance)
    const agreed = sweeps.limitsOf(run)
    const dollars = dollarsOf(agreed)
    const most = mostUntilStopped(run.project) ?? (dollars === undefined ? undefined : micros(dollars))
    if (!there)
      return run.sweep || run.node || most === undefined ? {} : { most: runCostBy(run, now()) + most }
    // The machine's part of a limit of the whole has moved, whether it has acted or not.
    if (run.sweep) {
      await this.limitReused(there, machineLimits(run, agreed))
      return {}
    }
    const open = limits.all().filter(limit => limit.instance === there.id && !limit.ended)
    const ended = agreed.filter(({ when }) => !open.some(limit => limit.when.kind === when.kind))
    const bound = boundOf(agreed, there.pricePerHour)
    // Its watchdog may have ended that of the highest cost a little before it was reached.
    const isLimited = open.some(({ when }) => when.kind === 'cost')
    const isUsedUp = run.most !== undefined && (!isLimited || runCostBy(run, now()) >= run.most)
    if (ended.length === 0 && !isUsedUp) return {}
    const anew = bound === undefined ? ended : limitsAt(ended, bound)
    await limits.put(...machineLimits(run, anew).map(limit => this.#fresh(limit, there)))
    // That of the highest cost until now would stop it too soon.
    const isOutdated = ({ when, action, rental }: (typeof open)[number]) =>
      when.kind === 'cost' && action === 'stop' && rental !== undefined
    if (bound !== undefined) for (const { id } of open.filter(isOutdated)) await limits.forget(id)
    return bound === undefined ? {} : { most: runCostBy(run, now()) + bound }
  }
}
