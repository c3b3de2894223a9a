import { shortInstanceName } from '#contract/format/name.ts'
import { atMoment } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import type { Alert } from '#core/notifications/alert.ts'
import type { LimitTarget } from '../decide/choose-targets.ts'
import { kindOf } from '../kinds.ts'
import type { Limit } from '../model.ts'
import { listed, nameOf, whatHappened, whatHappens } from './words.ts'

/** The context of an account's limit alerts. Moments in epoch seconds of the account's time. */
export interface LimitScene {
  account: AccountId
  instances: Readonly<Record<string, InstanceView>>
  now: number
}

/** One id per limit, so that a later alert replaces the earlier one. */
export function limitAlertId(account: AccountId, limit: string): string {
  return `${account}/limit/${limit}`
}

/** The limit is expected to act at `dueAt`. `targets` is what an account's limit would act on now. */
export function warningAlert(
  scene: LimitScene,
  limit: Limit,
  dueAt: number,
  targets: readonly LimitTarget[],
): Alert {
  const names = targets.map(({ instance }) => nameOf(instance, scene.instances))
  const which = limit.instance === undefined && names.length > 0 ? ` As things are: ${listed(names)}.` : ''
  const lost = limit.action === 'destroy' ? ' All its files are lost then.' : ''
  return {
    ...base(scene, limit),
    title: `${whatHappens(limit, scene.instances)} ${atMoment(dueAt, scene.now)}`,
    // The title has the moment: a duration would become wrong while it is shown.
    body: `By a limit.${which}${lost}`,
    urgency: 'critical',
    actions: [snooze(scene.account, limit), { id: 'show', label: 'Show' }],
  }
}

/** It goes by a load that cannot be read, so nothing watches. */
export function blindAlert(scene: LimitScene, limit: Limit, { message, advice }: Problem): Alert {
  return {
    ...base(scene, limit),
    title: `A limit of ${nameOf(limit.instance ?? 0, scene.instances)} can’t see its load`,
    body: [message, advice].filter(Boolean).join(' '),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

/** It is due, but the service does not answer, or has not reported the credit since `creditStaleSince`. */
export function heldAlert(
  scene: LimitScene,
  limit: Limit,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
): Alert {
  const { now } = scene
  const since =
    creditStaleSince === undefined ? '' : ` The credit was last known ${atMoment(creditStaleSince, now)}.`
  return {
    ...base(scene, limit),
    title: `${whatHappens(limit, scene.instances)} as soon as the service ${creditStaleSince === undefined ? 'answers' : 'reports the credit'}`,
    body: `It was due ${atMoment(dueAt, now)}.${since} Until then your instances keep costing money.`,
    urgency: 'critical',
    actions: [snooze(scene.account, limit), { id: 'show', label: 'Show' }],
  }
}

export function limitDoneAlert(
  scene: LimitScene,
  limit: Limit,
  targets: readonly LimitTarget[],
  late: { dueAt: number } | undefined,
): Alert {
  const delay = late ? ` It was due ${atMoment(late.dueAt, scene.now)}, while Berth was not polling.` : ''
  return {
    ...base(scene, limit),
    title: whatHappened(targets, scene.instances),
    body: `${kindOf(limit.condition).reason(limit.condition)}${delay}`,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

export function missedAlert(scene: LimitScene, limit: Limit, dueAt: number): Alert {
  const instance = scene.instances[limit.instance ?? '']
  const cost = instance ? ` ${shortInstanceName(instance)} costs ${costOf([instance])}.` : ''
  return {
    ...base(scene, limit),
    title: `A limit was missed: ${whatHappens(limit, scene.instances)}`,
    body: `It was due ${atMoment(dueAt, scene.now)}, while Berth was not polling, and was only to say so.${cost}`,
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

export function limitFailedAlert(scene: LimitScene, limit: Limit, { message, advice }: Problem): Alert {
  return {
    ...base(scene, limit),
    title: `${whatHappens(limit, scene.instances)} later: it did not work yet`,
    body: [message, advice, 'Berth tries again.'].filter(Boolean).join(' '),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
  }
}

function base({ account }: LimitScene, { id, instance }: Limit) {
  return {
    id: limitAlertId(account, id),
    kind: 'limit' as const,
    instance,
    place:
      instance === undefined
        ? ({ screen: 'account' } as const)
        : ({ screen: 'instances', instance, tab: 'automation' } as const),
  }
}

function snooze(account: AccountId, limit: Limit): Alert['actions'][number] {
  return {
    id: 'command-snooze',
    label: 'Snooze 1 h',
    command: { name: 'snoozeLimit', args: { account, limit: limit.id, minutes: 60 } },
  }
}
