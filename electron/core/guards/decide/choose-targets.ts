import { actsIn, type GuardAction } from '../../../contract/automation/guard.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { hasTrait } from '../../../contract/instance/state-traits.ts'
import { calmRate, expectedTraffic, runsOnceBack } from '../../../contract/reading.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import { idleBelow } from '../../instances/instance-state.ts'
import type { Facts, Known, Loads } from '../facts/facts.ts'
import type { Guard } from '../model.ts'

/** An instance that a guard acts on. */
export interface Target {
  instance: number
  action: GuardAction
}

type Instances = Readonly<Record<string, InstanceView>>

/** A guard's present targets, in order: without those that a guard has just acted on, or that already stop. */
export function targetsOf(
  guard: Pick<Guard, 'instance' | 'condition' | 'action'>,
  { facts: { account, loads }, acted }: { facts: Pick<Facts, 'account' | 'loads'>; acted: Known['acted'] },
  now: number,
): Target[] {
  const { instance, action } = guard
  if (instance === undefined)
    return accountTargets(guard, account, loads, now).filter(target => !acted.has(target.instance))
  const one = account.instances[instance]
  return one && actsIn(one.state, guard) ? [{ instance, action }] : []
}

/**
 * The present targets of a guard on the account, the cheapest loss first. Stopping comes before destroying: nothing is
 * destroyed while something runs that can be stopped, or is stopping. A guard on the credit takes no more than it
 * needs.
 */
export function accountTargets(
  { condition, action }: Pick<Guard, 'condition' | 'action'>,
  { instances, credit }: { instances: Instances; credit?: Micros },
  loads: Loads,
  now: number,
): Target[] {
  const all = Object.values(instances)
  const stop = all
    .filter(canStop)
    .sort(byLoss(instance => workAtStake(instance, loads, now), savedByStopping))
  const enough = condition.kind === 'credit' ? lasting(credit ?? 0, condition.hours) : () => false
  if (stop.length > 0) return taken(stop, 'stop', savedByStopping, calmRate(instances), enough)
  if (action === 'stop' || all.some(({ state }) => state === 'stopping')) return []
  const destroy = all.filter(canDestroy).sort(byLoss(filesAtStake, instance => instance.costPerHour))
  return taken(destroy, 'destroy', instance => instance.costPerHour, calmRate(instances), enough)
}

/** An instance that is starting costs only its disk and may be a rental in progress, so it is skipped. */
function canStop(instance: InstanceView): boolean {
  return hasTrait(instance.state, 'stoppable') || runsOnceBack(instance)
}

function canDestroy({ state, costPerHour }: InstanceView): boolean {
  return hasTrait(state, 'diskOnly') && costPerHour > 0
}

function savedByStopping(instance: InstanceView): Micros {
  const { costPerHour, diskPricePerHour = 0 } = instance
  // What is offline may cost nothing, not even its disk.
  return Math.max(0, costPerHour - diskPricePerHour) + expectedTraffic(instance)
}

/**
 * The loss by stopping: the work since it last began to run, valued at its cost. None where it does not run, the host
 * is silent or offline, or the GPUs are idle.
 */
function workAtStake(instance: InstanceView, loads: Loads, now: number): Micros {
  const { state } = instance
  if (state === 'waiting' || hasTrait(state, 'lapsed')) return 0
  const load = instance.gpuLoad ?? loads.get(instance.id)?.load
  if (load !== undefined && load < idleBelow) return 0
  const began = instance.history.findLast(({ state }) => state === 'running')?.at ?? instance.startedAt ?? now
  return Math.max(0, now - began) * instance.costPerHour
}

/** The loss by destroying: its files, valued at its cost since its creation. */
function filesAtStake({ spent }: InstanceView): Micros {
  return spent.micros
}

/** The least loss first; among equal ones, what saves most. */
function byLoss(loss: (instance: InstanceView) => Micros, saved: (instance: InstanceView) => Micros) {
  return (a: InstanceView, b: InstanceView) => loss(a) - loss(b) || saved(b) - saved(a) || a.id - b.id
}

function lasting(credit: Micros, hours: number): (perHour: Micros) => boolean {
  return perHour => perHour <= 0 || credit / perHour >= hours
}

/** The first instances, until it is enough. */
function taken(
  instances: readonly InstanceView[],
  action: GuardAction,
  saved: (instance: InstanceView) => Micros,
  perHour: Micros,
  enough: (perHour: Micros) => boolean,
): Target[] {
  const targets: Target[] = []
  let left = perHour
  for (const instance of instances) {
    if (enough(left)) break
    targets.push({ instance: instance.id, action })
    left -= saved(instance)
  }
  return targets
}
