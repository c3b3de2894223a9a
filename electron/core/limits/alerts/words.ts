import type { LimitAction } from '#contract/automation/limit.ts'
import type { LimitCondition } from '#contract/automation/limit-kinds.ts'
import { named } from '#contract/format/list.ts'
import { instanceName, shortInstanceName } from '#contract/format/name.ts'
import { atMoment, moment } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { LimitTarget } from '../decide/choose-targets.ts'
import { kindOf } from '../kinds.ts'
import type { Limit } from '../model.ts'

type Instances = Readonly<Record<string, InstanceView>>

type DescribedLimit = Pick<Limit, 'condition' | 'instance' | 'action' | 'snoozedUntil'>

/** A limit as a sentence, which begins with `whatItDoes`. */
export function limitSentence(limit: DescribedLimit, instances: Instances, now: number): string {
  const { condition, instance, action, snoozedUntil } = limit
  if (instance === undefined) return accountSentence(condition, action)
  const when = snoozedWords(condition, snoozedUntil, now) ?? kindOf(condition).when(condition, now)
  return `${whatItDoes(limit, instances)}${when}.`
}

/** The beginning of the sentence: `Stops llama #4711 `. The rest only changes with the limit. */
export function whatItDoes({ instance, action }: DescribedLimit, instances: Instances): string {
  if (instance === undefined) return 'Stops '
  const name = nameOf(instance, instances, instanceName)
  return action === 'stop' ? `Stops ${name} ` : `Destroys ${name} with all its files `
}

function accountSentence(condition: LimitCondition, action: LimitAction): string {
  const when = kindOf(condition).when(condition, 0)
  if (condition.kind === 'credit') {
    const more = action === 'destroy' ? ' If that isn’t enough, it destroys stopped instances.' : ''
    return `Stops what loses least, one after another, ${when}.${more}`
  }
  const more = action === 'destroy' ? ' Then it destroys stopped instances, with all their files.' : ''
  return `Stops everything that runs ${when}.${more}`
}

/** `at 15:34, snoozed from 15:19`, for a limit with a fixed moment. */
function snoozedWords(condition: LimitCondition, until: number | undefined, now: number): string | undefined {
  if (condition.kind !== 'time' && condition.kind !== 'duration') return undefined
  const at = condition.kind === 'time' ? condition.at : condition.from + condition.seconds
  if (until === undefined || until <= at) return undefined
  return `${atMoment(until, now)}, snoozed from ${moment(at, now)}`
}

/** `llama #4711 stops`, `everything stops`: the limit's effect. */
export function whatHappens({ instance, action, condition }: Limit, instances: Instances): string {
  if (instance !== undefined)
    return `${nameOf(instance, instances)} ${action === 'stop' ? 'stops' : 'is destroyed'}`
  return condition.kind === 'credit' ? 'What loses least stops' : 'Everything stops'
}

/** `Stopped llama #4711 and eval #4712`, of either action or both. */
export function whatHappened(targets: readonly LimitTarget[], instances: Instances): string {
  const parts = (['stop', 'destroy'] as const).flatMap(action => {
    const names = targets
      .filter(target => target.action === action)
      .map(({ instance }) => nameOf(instance, instances))
    return names.length === 0 ? [] : [`${action === 'stop' ? 'Stopped' : 'Destroyed'} ${listed(names)}`]
  })
  return parts.join('. ')
}

/** A few names, as notifications are short. */
export function listed(names: readonly string[]): string {
  return named(names, { most: 3 })
}

export function nameOf(id: number, instances: Instances, name = shortInstanceName): string {
  const instance = instances[id]
  return instance ? name(instance) : `instance #${id}`
}
