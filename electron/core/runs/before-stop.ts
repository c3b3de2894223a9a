import { sleep } from '#platform/tasks.ts'
import { noticeOf } from '#shared/project/before-stop.ts'
import { dearestOf } from '#shared/project/bounds.ts'
import { endRun, tellOfStop } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { asksForNotice, isOfProject, type ProjectRun, type Run, runCostBy } from './model.ts'
import type { RunMachines } from './remote.ts'
import type { StoredRuns } from './stored-runs.ts'

/** Milliseconds between two looks at whether it has had its time: more and more. */
const lookEvery = { first: 1000, most: 5000 }

interface BeforeStopParts {
  runs: Pick<StoredRuns, 'all' | 'find' | 'update'>
  machines: Pick<RunMachines, 'inside'>
}

/** Tells commands that their machine is about to be stopped, as their files say. */
export class BeforeStops {
  readonly #context: Pick<AccountContext, 'platform' | 'quitting' | 'now'>
  readonly #parts: BeforeStopParts
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(context: Pick<AccountContext, 'platform' | 'quitting' | 'now'>, parts: BeforeStopParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Tells the commands on an instance that it is about to be stopped, and resolves once they had their time. */
  async ofInstance(instance: number): Promise<void> {
    await Promise.all(this.#toTell(instance).map(run => this.#told(run)))
  }

  /** The same for a stop by the user, whose second request does not wait. */
  async byUser(instance: number): Promise<void> {
    const all = this.#toTell(instance)
    if (!all.some(({ id }) => this.#underWay.has(id))) await Promise.all(all.map(run => this.#told(run)))
  }

  /** Ends a command that the user ends, after its time; at once where it was told before. False where it asks for none. */
  async end(run: Run): Promise<boolean> {
    const { clock } = this.#context.platform
    const { machines, runs } = this.#parts
    if (!isOfProject(run) || !asksForNotice(run) || this.#underWay.has(run.id)) return false
    await this.#told(run)
    await machines
      .inside(run, connection => endRun(connection, clock, run.program ?? ''))
      .catch(() => undefined)
    await runs.update(run.id, { told: undefined })
    return true
  }

  /** Those on an instance whose command runs and asked for it. */
  #toTell(instance: number): ProjectRun[] {
    const { runs } = this.#parts
    return runs
      .all()
      .filter(isOfProject)
      .filter(run => run.instance === instance && asksForNotice(run))
  }

  /** Resolves once it had its time. Never rejects: a machine that cannot be reached is stopped, too. */
  async #tell(run: ProjectRun): Promise<void> {
    const { now, quitting } = this.#context
    const { clock } = this.#context.platform
    const { runs, machines } = this.#parts
    const { id, program } = run
    const before = run.project.spec.before_stop
    if (!before || program === undefined) return
    const at = now()
    // After a kill the rest of its time counts on.
    const until =
      run.told && run.told.until > at ? run.told.until : at + affordable(run, at, noticeOf(before).seconds)
    if (until <= at) return
    await runs.update(id, { told: { since: run.told?.since ?? at, until } })
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, quitting])
    const asking = (async () => {
      for (let looks = 1; asksForNotice(runs.find(id) ?? run); looks += 1) {
        const hasHad = await machines.inside(run, connection => tellOfStop(connection, clock, program))
        if (hasHad !== false) return
        await sleep(clock, Math.min(looks * lookEvery.first, lookEvery.most), signal)
      }
    })()
    const ends = sleep(clock, (until - at) * 1000, signal)
    await Promise.race([asking, ends]).catch(() => undefined)
    over.abort()
    await Promise.allSettled([ends])
  }

  #told(run: ProjectRun): Promise<void> {
    const telling = this.#underWay.get(run.id) ?? this.#tell(run).finally(() => this.#underWay.delete(run.id))
    this.#underWay.set(run.id, telling)
    return telling
  }
}

/** Seconds of that many for which what the run may cost lasts. */
function affordable(run: ProjectRun, at: number, seconds: number): number {
  const { most, spent, project } = run
  const perHour = spent?.perHour || dearestOf(project.spec, project.price)
  if (most === undefined || !perHour) return seconds
  return Math.max(0, Math.min(seconds, ((most - runCostBy(run, at)) / perHour) * 3600))
}
