import type { LimitWhen } from '#shared/automation/limit.ts'
import {
  conditionLabel,
  doneWords,
  effectWords,
  listed,
  nameOf,
  reasonSentence,
} from '#shared/automation/limit-words.ts'
import { isGoing, isStoppedAtLimit } from '#shared/automation/run.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { money } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { atMoment, duration } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { costOf } from '#shared/spending/spend-words.ts'
import { shortened } from '#shared/text.ts'
import type { AccountContext } from '../account-context.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { type Teller, tellerOf } from '../alerts/notifications.ts'
import { whenFirst } from './limit-due.ts'
import type { StoredLimit } from './model.ts'
import type { LimitTarget } from './targets.ts'

/** The context of an account's limit alerts. Moments in epoch seconds of the account's time. */
export interface LimitScene {
  account: AccountId
  instances: Readonly<Record<string, InstanceView>>
  now: number
  /** The sweep that an instance works for. */
  sweepOf(instance: number | undefined): SweepView | undefined
}

/** One id per limit, so that a later alert replaces the earlier one. */
export function limitAlertId(account: AccountId, limit: string): string {
  return `${account}/limit/${limit}`
}

/** One id per sweep, also for its end. */
export function sweepAlertId(account: AccountId, sweep: string): string {
  return `${account}/group/${sweep}`
}

/** The limit is expected to act at `dueAt`. `targets` is what an account's limit would act on now. */
export function warningAlert(
  scene: LimitScene,
  limit: StoredLimit,
  dueAt: number,
  targets: readonly LimitTarget[],
): Alert {
  const names = targets.map(({ instance }) => nameOf(instance, scene.instances))
  const which = limit.instance === undefined && names.length > 0 ? ` Right now: ${listed(names)}.` : ''
  const lost = limit.action === 'destroy' ? ' All its files will be lost.' : ''
  return alertOf('limitDue', {
    ...base(scene, limit),
    title: `${effectWords(limit, scene.instances)} ${atMoment(dueAt, scene.now)}`,
    // The title has the moment: a duration would become wrong while it is shown.
    body: `${limit.instance === undefined ? 'Your' : 'Its'} limit: ${conditionLabel(whenIn(scene, limit))}.${which}${lost}`,
    actions: snoozeOrShow(scene.account, limit),
  })
}

/** The machines of a sweep are expected to stop at `dueAt`: one alert, which that of the sweep's end replaces. */
export function sweepWarningAlert(
  { account, now }: LimitScene,
  { id, name, project, limit }: SweepView,
  { machines, dueAt }: { machines: number; dueAt: number },
): Alert {
  const label = limit && ('seconds' in limit ? duration(limit.seconds) : money(limit.micros))
  const limitWords = label === undefined ? '' : `Its limit: ${label}. `
  const stop = `${counted(machines, 'machine')} ${machines === 1 ? 'stops' : 'stop'} ${atMoment(dueAt, now)}`
  return alertOf('limitDue', {
    id: sweepAlertId(account, id),
    instance: undefined,
    place: { screen: 'projects', project, entry: id },
    title: `${shortened(name, 24)}: ${stop}`,
    body: `${limitWords}Runs that aren’t done by then stop, and their machines keep the files.`,
  })
}

/** A share of a budget is spent, in percent. */
export function budgetAlert(
  scene: LimitScene,
  limit: StoredLimit,
  { share, spent, when }: { share: number; spent: Micros; when: LimitWhen & { kind: 'budget' } },
): Alert {
  return alertOf('budgetSpent', {
    ...base(scene, limit),
    id: `${limitAlertId(scene.account, limit.id)}/share`,
    title: `${share}% of ${when.per === 'day' ? 'today’s' : 'this month’s'} budget is spent`,
    body: `${money(spent)} of ${money(micros(when.dollars))}. Your limit: ${conditionLabel(when)}.`,
  })
}

/** It goes by a load that cannot be read, so nothing watches. */
export function blindAlert(scene: LimitScene, limit: StoredLimit, { message, advice }: Problem): Alert {
  return alertOf('limitBlind', {
    ...base(scene, limit),
    title: `A limit of ${nameOf(limit.instance ?? 0, scene.instances)} can’t see its load`,
    body: [message, advice].filter(Boolean).join(' '),
  })
}

/** It is due, but the service does not answer, or has not reported the credit since `creditStaleSince`. */
export function heldAlert(
  scene: LimitScene,
  limit: StoredLimit,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
): Alert {
  const { now } = scene
  const since =
    creditStaleSince === undefined ? '' : ` The credit was last known ${atMoment(creditStaleSince, now)}.`
  return alertOf('limitHeld', {
    ...base(scene, limit),
    title:
      `${effectWords(limit, scene.instances)} as soon as the service ` +
      `${creditStaleSince === undefined ? 'answers' : 'reports the credit'}`,
    body: `It was due ${atMoment(dueAt, now)}.${since} Until then you keep paying for your instances.`,
    actions: snoozeOrShow(scene.account, limit),
  })
}

export function limitDoneAlert(
  scene: LimitScene,
  limit: StoredLimit,
  targets: readonly LimitTarget[],
  late: { dueAt: number } | undefined,
): Alert {
  const delay = late ? ` It was due ${atMoment(late.dueAt, scene.now)}, while Berth wasn’t polling.` : ''
  return alertOf('limitDone', {
    ...base(scene, limit),
    title: doneWords(targets, scene.instances),
    body: `${reasonSentence(whenIn(scene, limit))}${delay}${sparedWords(limit, targets, scene.instances)}`,
  })
}

/** That a limit which destroys has only stopped its instance, and why; empty where it did as set. */
export function sparedWords(
  limit: StoredLimit,
  done: readonly LimitTarget[],
  instances: LimitScene['instances'],
): string {
  const { instance, action } = limit
  const isSpared =
    action === 'destroy' && done.some(one => one.instance === instance && one.action === 'stop')
  if (!isSpared) return ''
  const target = instances[instance ?? '']
  const isInferred = target?.spent.inferred && whenFirst(limit, target).kind === 'cost'
  const why = isInferred
    ? 'something else may have spent a part of that while Berth wasn’t polling'
    : 'a run’s files may not be here yet'
  return ` It was to be destroyed, but ${why}. Its disk is billed.`
}

export function missedAlert(scene: LimitScene, limit: StoredLimit, dueAt: number): Alert {
  const instance = scene.instances[limit.instance ?? '']
  const cost = instance ? ` ${shortInstanceName(instance)} costs ${costOf([instance])}.` : ''
  return alertOf('limitMissed', {
    ...base(scene, limit),
    title: `A limit was missed: ${effectWords(limit, scene.instances)}`,
    body: `It was due ${atMoment(dueAt, scene.now)}, while Berth wasn’t polling. It’s set to only notify you.${cost}`,
  })
}

export function limitFailedAlert(scene: LimitScene, limit: StoredLimit, { message, advice }: Problem): Alert {
  return alertOf('limitFailed', {
    ...base(scene, limit),
    title: `${effectWords(limit, scene.instances)} late: the first try failed`,
    body: [message, advice, 'Berth tries again.'].filter(Boolean).join(' '),
  })
}

function whenIn({ instances }: LimitScene, limit: StoredLimit): LimitWhen {
  return whenFirst(limit, instances[limit.instance ?? ''])
}

function base({ account }: LimitScene, { id, instance }: StoredLimit) {
  return {
    id: limitAlertId(account, id),
    instance,
    place: instance === undefined ? ({ screen: 'account' } as const) : undefined,
  }
}

function snoozeOrShow(account: AccountId, limit: StoredLimit): Alert['actions'] {
  return [
    {
      id: 'command-snooze',
      label: 'Extend 1 h',
      command: { name: 'snoozeLimit', args: { account, limit: limit.id, minutes: 60 } },
    },
    { id: 'show', label: 'Show' },
  ]
}

/** Alerts and Activity entries of an account's limits; withdraws a limit's alert by the limit's id. */
export interface LimitAlerts extends Teller {
  withdrawSweep(sweep: string): void
  /** `at`: epoch seconds of the account's time. */
  scene(at: number): LimitScene
}

export function limitAlertsOf(
  context: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>,
): LimitAlerts {
  const { account, store } = context
  const teller = tellerOf(context)
  return {
    ...teller,
    withdraw: limit => teller.withdraw(limitAlertId(account, limit)),
    withdrawSweep: sweep => teller.withdraw(sweepAlertId(account, sweep)),
    scene(at) {
      const { instances = {}, runs = {}, sweeps = {} } = store.get().accounts[account] ?? {}
      const sweepOf = (instance: number | undefined) => {
        const run = Object.values(runs).find(
          one => one.instance === instance && one.sweep && (isGoing(one) || isStoppedAtLimit(one.problem)),
        )
        return sweeps[run?.sweep?.id ?? '']
      }
      return { account, instances, now: at, sweepOf }
    },
  }
}
