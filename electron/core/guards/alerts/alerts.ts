import { shortInstanceName } from '#contract/format/name.ts'
import { atMoment } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import type { Alert } from '#core/notifications/alert.ts'
import type { GuardTarget } from '../decide/choose-targets.ts'
import { kindOf } from '../kinds.ts'
import type { Guard } from '../model.ts'
import { listed, nameOf, whatHappened, whatHappens } from './words.ts'

/** The context of an account's guard alerts. Moments in epoch seconds of the account's time. */
export interface GuardScene {
  account: AccountId
  instances: Readonly<Record<string, InstanceView>>
  now: number
}

/** One id per guard, so that a later alert replaces the earlier one. */
export function guardAlertId(account: AccountId, guard: string): string {
  return `${account}/guard/${guard}`
}

/** The guard is expected to act at `dueAt`. `targets` is what an account's guard would act on now. */
export function warningAlert(
  scene: GuardScene,
  guard: Guard,
  dueAt: number,
  targets: readonly GuardTarget[],
): Alert {
  const names = targets.map(({ instance }) => nameOf(instance, scene.instances))
  const which = guard.instance === undefined && names.length > 0 ? ` As things are: ${listed(names)}.` : ''
  const lost = guard.action === 'destroy' ? ' All its files are lost then.' : ''
  return {
    ...base(scene, guard),
    title: `${whatHappens(guard, scene.instances)} ${atMoment(dueAt, scene.now)}`,
    // The title has the moment: a duration would become wrong while it is shown.
    body: `By a limit.${which}${lost}`,
    urgency: 'critical',
    actions: [snooze(scene.account, guard), { id: 'show', label: 'Show' }],
  }
}

/** It goes by a load that cannot be read, so nothing watches. */
export function blindAlert(scene: GuardScene, guard: Guard, { message, advice }: Problem): Alert {
  return {
    ...base(scene, guard),
    title: `A limit of ${nameOf(guard.instance ?? 0, scene.instances)} can’t see its load`,
    body: [message, advice].filter(Boolean).join(' '),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

/** It is due, but the service does not answer, or has not reported the credit since `creditStaleSince`. */
export function heldAlert(
  scene: GuardScene,
  guard: Guard,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
): Alert {
  const { now } = scene
  const since =
    creditStaleSince === undefined ? '' : ` The credit was last known ${atMoment(creditStaleSince, now)}.`
  return {
    ...base(scene, guard),
    title: `${whatHappens(guard, scene.instances)} as soon as the service ${creditStaleSince === undefined ? 'answers' : 'reports the credit'}`,
    body: `It was due ${atMoment(dueAt, now)}.${since} Until then your instances keep costing money.`,
    urgency: 'critical',
    actions: [snooze(scene.account, guard), { id: 'show', label: 'Show' }],
  }
}

export function guardDoneAlert(
  scene: GuardScene,
  guard: Guard,
  targets: readonly GuardTarget[],
  late: { dueAt: number } | undefined,
): Alert {
  const delay = late ? ` It was due ${atMoment(late.dueAt, scene.now)}, while Berth was not polling.` : ''
  return {
    ...base(scene, guard),
    title: whatHappened(targets, scene.instances),
    body: `${kindOf(guard.condition).reason(guard.condition)}${delay}`,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

export function missedAlert(scene: GuardScene, guard: Guard, dueAt: number): Alert {
  const instance = scene.instances[guard.instance ?? '']
  const cost = instance ? ` ${shortInstanceName(instance)} costs ${costOf([instance])}.` : ''
  return {
    ...base(scene, guard),
    title: `A limit was missed: ${whatHappens(guard, scene.instances)}`,
    body: `It was due ${atMoment(dueAt, scene.now)}, while Berth was not polling, and was only to say so.${cost}`,
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

export function guardFailedAlert(scene: GuardScene, guard: Guard, { message, advice }: Problem): Alert {
  return {
    ...base(scene, guard),
    title: `${whatHappens(guard, scene.instances)} later: it did not work yet`,
    body: [message, advice, 'Berth tries again.'].filter(Boolean).join(' '),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

function base({ account }: GuardScene, { id, instance }: Guard) {
  return {
    id: guardAlertId(account, id),
    kind: 'guard' as const,
    instance,
    place:
      instance === undefined
        ? ({ screen: 'account' } as const)
        : ({ screen: 'instances', instance, tab: 'automation' } as const),
  }
}

function snooze(account: AccountId, guard: Guard): Alert['actions'][number] {
  return {
    id: 'command-snooze',
    label: 'Snooze 1 h',
    command: { name: 'snoozeGuard', args: { account, guard: guard.id, minutes: 60 } },
  }
}
