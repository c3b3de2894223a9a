import * as v from 'valibot'
import { isGoing, RunId } from '#shared/automation/run.ts'
import { WaitingFields, type WaitingMachineView } from '#shared/automation/sweep.ts'
import { canGetIn } from '#shared/derived.ts'
import { LimitId } from '#shared/ids.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { BerthError } from '#shared/problem.ts'
import { ProjectId } from '#shared/project/project.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { callerOf, type Spender, StoredSpender } from '#shared/spending/spender.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { EndingCause } from '../endings/record.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { limitOfRental } from '../limits/changes.ts'
import type { StoredLimits } from '../limits/model.ts'
import { openCollection } from '../storage/collection.ts'
import type { Watchdogs } from '../watchdogs/perform.ts'
import type { RunAlerts } from './alerts.ts'
import { machineInUse, noLongerWaiting, waitedCause } from './messages.ts'
import type { ProjectRun, Run } from './model.ts'
import type { RunMachines } from './remote.ts'

/** A machine that waits for the next run of its project, as stored. Times in epoch seconds of the account's time. */
const WaitingMachine = v.object({
  ...WaitingFields.entries,
  project: ProjectId,
  /** The run that it was rented for, or that used it last. */
  by: RunId,
  /** The agent or script that pays for it, and alone may use it. */
  caller: v.optional(StoredSpender),
  /** Its requirements, as text: a run with other requirements rents another machine. */
  demands: v.string(),
  /** The limit that ends it. */
  limit: LimitId,
  /** It is no longer wanted. */
  ending: v.optional(v.boolean()),
})
export type WaitingMachine = v.InferOutput<typeof WaitingMachine>

export type WaitingMachines = Awaited<ReturnType<typeof openWaitingMachines>>

export interface WaitingParts {
  runs: { all(): readonly Run[] }
  machines: Pick<RunMachines, 'viewOf'>
  limits: Pick<StoredLimits, 'all' | 'put' | 'forget'>
  watchdogs: Pick<Watchdogs, 'settle'>
  note: RunAlerts['note']
}

/** The machines of an account that wait for another run. Each has a limit that ends it, here and in its watchdog. */
export async function openWaitingMachines(
  context: AccountContext,
  { runs, machines, limits, watchdogs, note }: WaitingParts,
) {
  const { platform, now } = context
  const waiting = await openCollection(context, {
    name: 'waiting',
    schema: WaitingMachine,
    key: ({ instance }) => instance,
    missing: { code: 'not_waiting', message: 'That machine is no longer waiting.' },
    view: all => ({ waiting: Object.fromEntries(all.map(each => [each.instance, viewOf(each)])) }),
  })
  const worker = new Worker<number>({ clock: platform.clock, quitting: context.quitting, turn })

  async function removeLimit({ limit, instance }: WaitingMachine): Promise<void> {
    await limits.forget(limit)
    void watchdogs.settle(instance)
  }

  /** Ends a machine that is no longer wanted. */
  async function turn(instance: number): Promise<Next> {
    const there = waiting.find(instance)
    if (!there?.ending) return 'rest'
    await context.endings.end(instance, there.action, waitedCause(there, machines.viewOf(instance)))
    await limits.forget(there.limit)
    await waiting.forget(instance)
    return 'rest'
  }

  async function drop(there: WaitingMachine): Promise<void> {
    await waiting.update(there.instance, { ending: true })
    worker.wake(there.instance)
  }

  /** Whether a run uses it that began after it waited, which a kill may have left undone. */
  function isTaken({ instance, by }: WaitingMachine): boolean {
    return runs.all().some(run => run.instance === instance && run.id !== by && isGoing(run))
  }

  function observe(there: WaitingMachine, { account, pollsMissing }: AccountPoll): void {
    const { instance, action } = there
    if (isTaken(there)) {
      void take(instance)
      return
    }
    if (there.ending) {
      worker.wake(instance)
      return
    }
    const view = account.instances[instance]
    if (pollsMissing(instance) >= pollsUntilGone) {
      void context.endings.expect(instance, action)
      void limits.forget(there.limit)
      void waiting.forget(instance)
    } else if (
      view &&
      hasTrait(view.state, 'over') &&
      view.state !== 'stopping' &&
      view.state !== 'destroying'
    ) {
      // Its limit or its watchdog stopped it: its disk would cost for nothing.
      if (action === 'destroy' && !keepsFiles(context.endings.causeOf(instance))) void drop(there)
      else void letGo(instance)
    }
  }

  /** It was stopped by who was told that its files are kept: it's an ordinary stopped machine from now on. */
  async function letGo(instance: number): Promise<void> {
    await take(instance)
    context.activity.add(noLongerWaiting(context.account, instance))
  }

  async function take(instance: number): Promise<void> {
    const there = waiting.find(instance)
    if (!there) return
    await removeLimit(there)
    await waiting.forget(instance)
  }

  return {
    all: waiting.all,
    /** Lets the machine of a run that is over wait. Does nothing where it waits already. */
    async keep(run: ProjectRun): Promise<void> {
      const { id, instance = 0, project, sweep, keep = 0 } = run
      if (waiting.find(instance)?.by === id) return
      const [since, until] = [now(), now() + keep]
      const action = project.spec.after ?? 'destroy'
      const limit = limitOfRental(
        { when: { kind: 'time', at: until }, action, asleep: true },
        // The same after a kill, so that none is left behind.
        { id: `g${id.slice(1)}`, instance },
        since,
      )
      await limits.put({ ...limit, warning: 0 })
      const demands = demandsOf(project.spec)
      await waiting.add({
        instance,
        project: project.id,
        sweep: sweep?.id,
        by: id,
        caller: callerOf(project.by),
        demands,
        since,
        until,
        action,
        limit: limit.id,
      })
      void watchdogs.settle(instance)
      // The limits see their new one with it.
      void context.poll()
      if (!sweep) note(run, `The machine of ${run.name} is waiting for the next run`)
    },
    /** Lets one wait for the runs of a sweep. */
    async give(instance: number, sweep: string): Promise<void> {
      await waiting.update(instance, { sweep })
    },
    /** Those of that payer for a project that asks for the same machine, which can be entered now. */
    allFor(project: string, spec: ProjectSpec, by: Spender | undefined): readonly WaitingMachine[] {
      const demands = demandsOf(spec)
      return waiting.all().filter(there => {
        const view = machines.viewOf(there.instance)
        const isSame = there.project === project && there.demands === demands
        const isWanted = isSame && there.caller === callerOf(by) && !there.ending
        return isWanted && view !== undefined && canGetIn(view) && now() < there.until - leastLeft
      })
    },
    /** It waits no longer, since a run on it is on disk. */
    take,
    /** Ends one. Throws `not_waiting`. */
    async end(instance: number): Promise<void> {
      const there = waiting.get(instance)
      if (isTaken(there)) throw new BerthError(machineInUse)
      await waiting.intend(instance, { ending: true })
      worker.wake(instance)
    },
    /** Ends all that wait for a project, which is removed. */
    async endAllOf(project: string): Promise<void> {
      for (const there of waiting.all()) if (there.project === project && !isTaken(there)) await drop(there)
    },
    onPoll(poll: AccountPoll): void {
      for (const there of waiting.all()) observe(there, poll)
    },
    show: waiting.show,
    async flush() {
      await worker.flush()
      await waiting.flush()
    },
  }
}

function keepsFiles(cause: EndingCause | undefined): boolean {
  return cause?.kind === 'user' || (cause?.kind === 'berth' && cause.keepsFiles === true)
}

/** Seconds that a machine must still wait for a run to begin on it. */
const leastLeft = 5

/** A project's requirements for its machine. */
function demandsOf({ machine, image, template, disk, ports }: ProjectSpec): string {
  return JSON.stringify([machine, image, template, disk, ports])
}

function viewOf({ instance, project, sweep, since, until, action }: WaitingMachine): WaitingMachineView {
  return { instance, project, ...(sweep && { sweep }), since, until, action }
}
