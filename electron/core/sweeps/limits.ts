import { fixedMoment } from '#shared/automation/limit.ts'
import { isGoing } from '#shared/automation/run.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import { hasMoved } from '../limits/limit-due.ts'
import type { StoredLimits } from '../limits/model.ts'
import type { Run } from '../runs/model.ts'
import type { WaitingMachines } from '../runs/waiting-machines.ts'
import type { Collection } from '../storage/collection.ts'
import type { Watchdogs } from '../watchdogs/perform.ts'
import { costUntil, type Sweep, sweepCost, sweepDeadline } from './record.ts'
import type { SweepTerms } from './terms.ts'

export type SweepLimits = ReturnType<typeof createSweepLimits>

interface SweepLimitParts {
  stored: Pick<Collection<Sweep, string>, 'find' | 'putSoon'>
  terms: Pick<SweepTerms, 'runsOf'>
  waiting: Pick<WaitingMachines, 'all'>
  limits: Pick<StoredLimits, 'all' | 'put'>
  watchdogs: Pick<Watchdogs, 'settle'>
  departures: Pick<Departures, 'machinesOf'>
}

/** The limit of a whole sweep. Each machine has its share as a separate limit. */
export function createSweepLimits(
  { now }: Pick<AccountContext, 'now'>,
  { stored, terms, waiting, limits, watchdogs, departures }: SweepLimitParts,
) {
  /** Lets each machine be stopped when the whole would reach its limit, also while this computer sleeps. */
  async function guard(sweep: Sweep, own: readonly Run[]): Promise<void> {
    const deadline = sweepDeadline(sweep, own, now())
    if (deadline === undefined || sweep.step !== 'going') return
    for (const { instance, step, movingSince } of own) {
      // A machine that its run leaves has a limit for that.
      if (instance === undefined || movingSince !== undefined || !isGoing({ step })) continue
      const guarding = limits
        .all()
        .find(
          limit =>
            limit.instance === instance && !limit.ended && limit.asleep && fixedMoment(limit) !== undefined,
        )
      const moment = guarding && fixedMoment(guarding)
      if (!guarding || moment === undefined || guarding.action !== 'stop') continue
      if (!hasMoved(moment, deadline, now())) continue
      await limits.put({ ...guarding, when: { kind: 'time', at: Math.max(deadline, now() + 1) } })
      void watchdogs.settle(instance)
    }
  }

  return {
    /** Stores the machines' cost as of a poll, and moves their limits. */
    observe(sweep: Sweep, { account: { instances }, at }: AccountPoll): void {
      const own = terms.runsOf(sweep)
      const present = [
        ...own
          .filter(run => isGoing(run) || run.step === 'failed' || run.withdrawing)
          .flatMap(({ instance }) => instance ?? []),
        ...own.flatMap(({ id }) => departures.machinesOf(id)),
        ...waiting.all().flatMap(there => (there.sweep === sweep.id ? there.instance : [])),
      ]
      // One that has gone counts up to this poll, so that the sum is never too low.
      const machines = Object.fromEntries(
        Object.entries(sweep.machines).map(([instance, spent]) => [
          instance,
          spent.perHour > 0 ? costUntil(spent, at) : spent,
        ]),
      )
      for (const instance of present) {
        const spent = instances[instance]?.spent
        if (spent) machines[instance] = { ...spent }
      }
      // What one has cost that was gone and runs again leaves the files of the others their time.
      const hasReturned = present.some(
        id => sweep.machines[id]?.perHour === 0 && instances[id]?.state === 'running',
      )
      const after = { ...sweep, machines }
      if (hasReturned && sweep.step !== 'going')
        after.costThen = Math.max(sweep.costThen ?? 0, sweepCost(after, own, at))
      stored.putSoon(after)
      void guard(after, own)
    },
  }
}
