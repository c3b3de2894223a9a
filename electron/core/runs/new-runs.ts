import { spentBy } from '#shared/derived.ts'
import { boundOf, limitsAt, mostUntilStopped } from '#shared/project/bounds.ts'
import type { AccountContext } from '../account-context.ts'
import type { GoingOn } from './continue-failed.ts'
import type { RunFacts } from './facts.ts'
import { isOfProject, machineLimits, type NewRun, type Run } from './model.ts'
import type { RunNodes } from './nodes.ts'
import type { RunMachines } from './remote.ts'
import type { RunRemoval } from './removal.ts'
import type { RunSweeps } from './rooms-above.ts'
import type { RunScheduler } from './scheduler.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { WaitingMachines } from './waiting-machines.ts'

/** A new run, also of a sweep or on a machine that waited. */
type AddedRun = NewRun &
  Pick<Run, 'id' | 'node' | 'sweep' | 'reuses' | 'gpu' | 'most' | 'spentBefore' | 'spent'>

interface NewRunParts {
  runs: StoredRuns
  machines: Pick<RunMachines, 'viewOf'>
  nodes: Pick<RunNodes, 'of'>
  waiting: Pick<WaitingMachines, 'take'>
  goingOn: Pick<GoingOn, 'limitReused'>
  sweeps: Pick<RunSweeps, 'limitsOf'>
  facts: Pick<RunFacts, 'whileAsking'>
  removal: Pick<RunRemoval, 'makeRoom'>
  scheduler: Pick<RunScheduler, 'wake'>
}

/** How runs begin. Each resolves once the run is on disk, which then continues automatically. */
export class NewRuns {
  readonly #context: AccountContext
  readonly #parts: NewRunParts

  constructor(context: AccountContext, parts: NewRunParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Resolves with its id. */
  async start(newRun: NewRun): Promise<string> {
    const { scheduler } = this.#parts
    const id = this.#newId()
    await this.#add({ ...newRun, id })
    scheduler.wake(id)
    return id
  }

  /** The same on several machines, for each of which there is a run; resolves with that of the first one. */
  async startNodes(newRun: NewRun, count: number): Promise<string> {
    const { nodes, runs, scheduler } = this.#parts
    const id = this.#newId()
    // All at once: one that a poll meets without the others would end, or wait for them forever.
    await this.#add(
      ...Array.from({ length: count }, (_, rank) => ({
        ...newRun,
        id: rank === 0 ? id : this.#newId(),
        keep: undefined,
        rental: `r${this.#context.newId()}`,
        node: { of: id, rank, count },
        // The first one stands for all.
        most: rank === 0 ? mostUntilStopped(newRun.project ?? {}) : undefined,
      })),
    )
    for (const run of nodes.of(runs.get(id))) scheduler.wake(run.id)
    return id
  }

  /** Starts a run of a project on a machine that waits, or on one that is rented for it. `id`: a new one by default. */
  async startOfProject(
    newRun: NewRun & Pick<Run, 'sweep'>,
    on: number | undefined,
    id: string = this.#newId(),
  ): Promise<string> {
    const { now } = this.#context
    const { machines, scheduler, runs, sweeps, goingOn, waiting } = this.#parts
    const there = machines.viewOf(on)
    if (!there) {
      const most = newRun.sweep ? undefined : mostUntilStopped(newRun.project ?? {})
      await this.#add({ ...newRun, id, rental: `r${this.#context.newId()}`, most })
      scheduler.wake(id)
      return id
    }
    const { gpu, pricePerHour } = there
    const { limits = [] } = newRun.project ?? {}
    const most = mostUntilStopped(newRun.project ?? {}) ?? boundOf(limits, pricePerHour)
    await this.#add({
      ...newRun,
      id,
      instance: there.id,
      reuses: true,
      gpu: gpu && { name: gpu.name, count: gpu.count },
      most: newRun.sweep ? undefined : most,
      spentBefore: -spentBy(there, now()),
      spent: { ...there.spent },
    })
    const run = runs.get(id)
    // In the place of the other run's limits.
    if (isOfProject(run)) {
      const own = sweeps.limitsOf(run)
      const limited = run.most === undefined ? own : limitsAt(own, run.most)
      await goingOn.limitReused(there, machineLimits(run, limited))
    }
    // Its watchdog learns of both with that.
    await waiting.take(there.id)
    scheduler.wake(id)
    return id
  }

  /**
   * The same for an instance that is yet to be rented: the run is on disk before `rent` is called, and is removed again
   * if `rent` rejects. Resolves with what `rent` does.
   */
  async startOn<Got>(newRun: NewRun, rent: () => Promise<Got>): Promise<Got> {
    const { facts, runs } = this.#parts
    const id = this.#newId()
    return facts.whileAsking(id, async () => {
      try {
        await this.#add({ ...newRun, id })
        return await rent()
      } catch (error) {
        await runs.remove(id)
        throw error
      }
    })
  }

  /** Removes the run that waits for a rental which never began. */
  async forget(rental: string): Promise<void> {
    const { runs } = this.#parts
    const waiting = runs.all().filter(run => run.rental === rental && run.step === 'waiting')
    await Promise.all(waiting.map(({ id }) => runs.remove(id)))
  }

  #newId() {
    return `x${this.#context.newId()}`
  }

  async #add(...added: readonly AddedRun[]): Promise<void> {
    const { removal, runs } = this.#parts
    await removal.makeRoom()
    await runs.addAll(added.map(run => this.#begun(run)))
  }

  #begun(added: AddedRun): Run {
    const { now } = this.#context
    const { machines } = this.#parts
    const starts = machines.viewOf(added.instance)?.state === 'running'
    return {
      ...added,
      step: added.reuses ? 'sending' : starts ? 'running' : 'waiting',
      createdAt: now(),
      // That of a project follows with its command.
      program: added.project ? undefined : added.id,
      outputBytes: 0,
      droppedBytes: 0,
      lastLine: '',
    }
  }
}
