import { actsIn, type GuardAction } from '../../../contract/automation/guard.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { hasTrait } from '../../../contract/instance/state-traits.ts'
import { calmRate, expectedTraffic, runsOnceBack } from '../../../contract/reading.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import { idleBelow } from '../../instances/instance-state.ts'
import type { Facts, Known, Loads } from '../facts/facts.ts'
import type { Guard } from '../model.ts'

/** What a guard acts on. */
export interface Target {
  instance: number
  action: GuardAction
}

type Instances = Readonly<Record<string, InstanceView>>

/** On what a guard acts as things are, in that order: not on what a guard has just acted on, nor to stop what stops. */
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
 * What a guard on a whole account acts on as things are, the cheapest loss first. Stopping comes before destroying:
 * nothing is destroyed while something runs that can be stopped, or is being stopped. A guard on the credit takes no
 * more than it needs to.
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

/** An instance that is starting costs only its disk and may be a rental under way: it is left alone. */
function canStop(instance: InstanceView): boolean {
  return hasTrait(instance.state, 'stoppable') || runsOnceBack(instance)
}

function canDestroy({ state, costPerHour }: InstanceView): boolean {
  return hasTrait(state, 'diskOnly') && costPerHour > 0
}

function savedByStopping(instance: InstanceView): Micros {
  return instance.costPerHour - (instance.diskPricePerHour ?? 0) + expectedTraffic(instance)
}

/**
 * What is lost when it stops: the work since it last began to run, counted as what that has cost. Nothing where it
 * does not run, the host is silent or offline, or the GPUs are idle.
 */
function workAtStake(instance: InstanceView, loads: Loads, now: number): Micros {
  const { state } = instance
  if (state === 'waiting' || hasTrait(state, 'lapsed')) return 0
  const load = instance.gpuLoad ?? loads.get(instance.id)?.load
  if (load !== undefined && load < idleBelow) return 0
  const began = instance.history.findLast(({ state }) => state === 'running')?.at ?? instance.startedAt ?? now
  return Math.max(0, now - began) * instance.costPerHour
}

/** What is lost when it is destroyed: its files, counted as what it has cost since it was made. */
function filesAtStake({ spent }: InstanceView): Micros {
  return spent.micros
}

/** The least loss first; where that is the same, what saves most. */
function byLoss(loss: (instance: InstanceView) => Micros, saved: (instance: InstanceView) => Micros) {
  return (a: InstanceView, b: InstanceView) => loss(a) - loss(b) || saved(b) - saved(a) || a.id - b.id
}

function lasting(credit: Micros, hours: number): (perHour: Micros) => boolean {
  return perHour => perHour <= 0 || credit / perHour >= hours
}

/** The first of them, until it is enough. */
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
