import { actsIn, type LimitAction } from '#shared/automation/limit.ts'
import { expectedTraffic, isCharged, isSpendingUnknown, runsOnceBack } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Micros } from '#shared/spending/money.ts'
import { idleBelow } from '../instances/instance-state.ts'
import { creditRate, type Facts, type LimitInputs, type SshLoads } from './facts.ts'
import { actionNow } from './limit-due.ts'
import type { StoredLimit } from './model.ts'

/** An instance that a limit acts on. */
export interface LimitTarget {
  instance: number
  action: LimitAction
  /** As it was called, in case it is gone. */
  name?: string
}

type Instances = Readonly<Record<string, InstanceView>>

/** What else of a limit decides about a cost that was shown with a rental. */
type Shown = 'most' | 'setAt' | 'snoozedUntil' | 'begunAt'

/** A limit's present targets, in order: without those that a limit has just acted on, or that already stop. */
export function targetsOf(
  limit: Pick<StoredLimit, 'instance' | 'when' | 'action'> & Partial<Pick<StoredLimit, Shown>>,
  {
    facts: { account, loads, observedPerHour },
    acted,
  }: { facts: Pick<Facts, 'account' | 'loads' | 'observedPerHour'>; acted: LimitInputs['acted'] },
  now: number,
): LimitTarget[] {
  const { instance } = limit
  if (instance === undefined)
    return accountTargets(limit, { ...account, observedPerHour }, loads, now).filter(
      target => !acted.has(target.instance),
    )
  const one = account.instances[instance]
  return one && actsIn(one.state, limit)
    ? [{ instance, action: actionNow({ setAt: 0, ...limit }, one, now) }]
    : []
}

/**
 * The present targets of a limit on the account, the cheapest loss first. Stopping comes before destroying: nothing is
 * destroyed while something runs that can be stopped, or is stopping. A limit on the credit takes no more than it
 * needs; those of unknown cost come last, and nothing is enough while one is left without any credit.
 */
export function accountTargets(
  { when, action }: Pick<StoredLimit, 'when' | 'action'>,
  {
    instances,
    credit = 0,
    observedPerHour,
  }: { instances: Instances; credit?: Micros; observedPerHour: Micros },
  loads: SshLoads,
  now: number,
): LimitTarget[] {
  const all = Object.values(instances)
  const stop = all
    .filter(canStop)
    .sort(byLoss(instance => workAtStake(instance, loads, now), savedByStopping))
  const isSpendingKnown = credit > 0 || !isSpendingUnknown({ instances })
  const enough = when.kind === 'credit' ? lasting(credit, when.hours, isSpendingKnown) : () => false
  const perHour = creditRate({ account: { instances }, observedPerHour })
  if (stop.length > 0) return taken(stop, 'stop', savedByStopping, perHour, enough)
  if (action === 'stop' || all.some(({ state }) => state === 'stopping')) return []
  const destroy = all.filter(canDestroy).sort(byLoss(filesAtStake, instance => instance.costPerHour))
  return taken(destroy, 'destroy', instance => instance.costPerHour, perHour, enough)
}

/** An instance that is starting costs only its disk and may be a rental in progress, so it is skipped. */
function canStop(instance: InstanceView): boolean {
  return hasTrait(instance.state, 'stoppable') || runsOnceBack(instance)
}

function canDestroy(instance: InstanceView): boolean {
  return hasTrait(instance.state, 'diskOnly') && isCharged(instance)
}

function savedByStopping(instance: InstanceView): Micros {
  const { costPerHour, diskPricePerHour = 0 } = instance
  // An offline instance may cost nothing, not even its disk.
  return Math.max(0, costPerHour - diskPricePerHour) + expectedTraffic(instance)
}

/**
 * The loss by stopping: the work since it last began to run, valued at its cost. None where it does not run, the host
 * is silent or offline, or the GPUs are idle.
 */
function workAtStake(instance: InstanceView, loads: SshLoads, now: number): Micros {
  const { state } = instance
  if (state === 'waiting' || hasTrait(state, 'idle') || hasTrait(state, 'lapsed')) return 0
  const load = instance.gpuLoad ?? loads.get(instance.id)?.load
  if (load !== undefined && load < idleBelow) return 0
  const began = instance.history.findLast(({ state }) => state === 'running')?.at ?? instance.startedAt ?? now
  return Math.max(0, now - began) * instance.costPerHour
}

/** The loss by destroying: its files, valued at its cost since its creation. */
function filesAtStake({ spent }: InstanceView): Micros {
  return spent.micros
}

/** The smallest loss first (unknown if the cost is); on a tie, the largest saving. */
function byLoss(loss: (instance: InstanceView) => Micros, saved: (instance: InstanceView) => Micros) {
  const unknown = ({ costUnknown }: InstanceView) => Number(costUnknown ?? false)
  return (a: InstanceView, b: InstanceView) =>
    unknown(a) - unknown(b) || loss(a) - loss(b) || saved(b) - saved(a) || a.id - b.id
}

/** @param isSpendingKnown whether nothing is spent where the known rate is 0 */
function lasting(credit: Micros, hours: number, isSpendingKnown: boolean): (perHour: Micros) => boolean {
  return perHour => (perHour <= 0 ? isSpendingKnown : credit / perHour >= hours)
}

/** The first instances, until it is enough. */
function taken(
  instances: readonly InstanceView[],
  action: LimitAction,
  saved: (instance: InstanceView) => Micros,
  perHour: Micros,
  enough: (perHour: Micros) => boolean,
): LimitTarget[] {
  const targets: LimitTarget[] = []
  let left = perHour
  for (const instance of instances) {
    if (enough(left)) break
    targets.push({ instance: instance.id, action })
    left -= saved(instance)
  }
  return targets
}
