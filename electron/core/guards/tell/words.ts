import type { GuardAction, GuardCondition } from '../../../contract/automation/guard.ts'
import { named } from '../../../contract/format/list.ts'
import { money } from '../../../contract/format/money.ts'
import { instanceName } from '../../../contract/format/name.ts'
import { percent } from '../../../contract/format/size.ts'
import { duration, moment } from '../../../contract/format/time.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Target } from '../decide/choose-targets.ts'
import type { Guard } from '../model.ts'

type Instances = Readonly<Record<string, InstanceView>>

/** What a guard does and when, as a sentence. */
export function guardSentence(
  {
    condition,
    instance,
    action,
    snoozedUntil,
  }: Pick<Guard, 'condition' | 'instance' | 'action' | 'snoozedUntil'>,
  instances: Instances,
  now: number,
): string {
  if (instance === undefined) return accountSentence(condition, action)
  const name = nameOf(instance, instances)
  const does = action === 'stop' ? `Stops ${name}` : `Destroys ${name} with all its files`
  return `${does} ${snoozedWords(condition, snoozedUntil, now) ?? conditionWords(condition, now)}.`
}

function accountSentence(condition: GuardCondition, action: GuardAction): string {
  if (condition.kind === 'credit') {
    const more = action === 'destroy' ? ' Where that is not enough, it destroys what is stopped.' : ''
    return `Stops what loses least, one after another, when the credit would last less than ${duration(condition.hours * 3600)}.${more}`
  }
  const more = action === 'destroy' ? ' Then it destroys what is stopped, with all files.' : ''
  return `Stops everything that runs ${conditionWords(condition, 0)}.${more}`
}

/** `at 15:34, snoozed from 15:19`, where a moment that was sure was moved. */
function snoozedWords(condition: GuardCondition, until: number | undefined, now: number): string | undefined {
  const at = momentOf(condition)
  if (at === undefined || until === undefined || until <= at) return undefined
  return `at ${moment(until, now)}, snoozed from ${moment(at, now)}`
}

/** Epoch seconds, where it waits for a moment alone. */
function momentOf(condition: GuardCondition): number | undefined {
  if (condition.kind === 'time') return condition.at
  return condition.kind === 'duration' ? condition.from + condition.seconds : undefined
}

/** The condition as the end of a sentence, `when it has cost $5.00`. */
function conditionWords(condition: GuardCondition, now: number): string {
  switch (condition.kind) {
    case 'time':
      return `at ${moment(condition.at, now)}`
    case 'duration':
      return `at ${moment(condition.from + condition.seconds, now)}, ${duration(condition.seconds)} after it was set`
    case 'idle':
      return `when its GPU load was below ${percent(condition.below)} for ${duration(condition.seconds)}`
    case 'cost':
      return `when it has cost ${money(condition.limit)}`
    case 'budget':
      return `when a ${condition.per} has cost ${money(condition.limit)}`
    case 'credit':
      return `when the credit would last less than ${duration(condition.hours * 3600)}`
  }
}

/** Why it acts, as a sentence. */
export function reason({ condition }: Pick<Guard, 'condition'>): string {
  switch (condition.kind) {
    case 'time':
      return 'Its time has come.'
    case 'duration':
      return `Its ${duration(condition.seconds)} are over.`
    case 'idle':
      return `Its GPU load was below ${percent(condition.below)} for ${duration(condition.seconds)}.`
    case 'cost':
      return `It has cost ${money(condition.limit)}.`
    case 'budget':
      return `This ${condition.per} has cost ${money(condition.limit)}.`
    case 'credit':
      return `The credit would last less than ${duration(condition.hours * 3600)}.`
  }
}

/** `llama #4711 stops`, `everything stops`: what is going to happen. */
export function whatHappens({ instance, action, condition }: Guard, instances: Instances): string {
  if (instance !== undefined)
    return `${nameOf(instance, instances)} ${action === 'stop' ? 'stops' : 'is destroyed'}`
  return condition.kind === 'credit' ? 'What loses least stops' : 'Everything stops'
}

/** `Stopped llama #4711 and eval #4712`, of one or both kinds. */
export function whatHappened(targets: readonly Target[], instances: Instances): string {
  const parts = (['stop', 'destroy'] as const).flatMap(action => {
    const names = targets
      .filter(target => target.action === action)
      .map(({ instance }) => nameOf(instance, instances))
    return names.length === 0 ? [] : [`${action === 'stop' ? 'Stopped' : 'Destroyed'} ${listed(names)}`]
  })
  return parts.join('. ')
}

/** Names in a notification, which has little room. */
export function listed(names: readonly string[]): string {
  return named(names, { most: 3 })
}

export function nameOf(id: number, instances: Instances): string {
  const instance = instances[id]
  return instance ? instanceName(instance) : `instance #${id}`
}
