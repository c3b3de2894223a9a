import * as Type from 'typebox'
import { type Fields, type HttpAnswer, isFields, plainAnswer } from './http/answer.ts'

/** Whether a channel carries an event; absent leaves it to the service. */
interface Channels {
  email?: boolean | null | undefined
  webhooks?: boolean | null | undefined
}

/** Section 2.8, for all of the service's audiences and events: `client` > `low_credit` > channels. */
export type KnownPreferences = Record<string, Record<string, Channels>>

export interface PreferencesAnswer {
  known: KnownPreferences
  /** All as they were sent: Berth must also write back those that it doesn’t know. */
  whole: Fields
}

const container = plainAnswer(
  Type.Object({ notification_preferences: Type.Record(Type.String(), Type.Unknown()) }),
)

export const preferencesAnswer: HttpAnswer<PreferencesAnswer> = {
  problem: container.problem,
  read: body => {
    const { notification_preferences: whole } = container.read(body)
    return { known: knownOf(whole), whole }
  },
}

function knownOf(whole: Fields): KnownPreferences {
  const audiences = Object.entries(whole).filter((entry): entry is [string, Fields] => isFields(entry[1]))
  return Object.fromEntries(audiences.map(([audience, events]) => [audience, eventsOf(events)]))
}

/** An event that is null is left to the service. */
function eventsOf(events: Fields): Record<string, Channels> {
  const readable = Object.entries(events).filter(([, channels]) => channels === null || isFields(channels))
  return Object.fromEntries(
    readable.map(([name, channels]) => {
      const { email, webhooks } = isFields(channels) ? channels : {}
      return [name, { email: switchOf(email), webhooks: switchOf(webhooks) }]
    }),
  )
}

function switchOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** All preferences with the changes in them, as they are to be written. */
export function withChanges({ whole }: PreferencesAnswer, changes: KnownPreferences): Fields {
  return merged(whole, changes)
}

function merged(before: unknown, changes: Readonly<Fields>): Fields {
  const all = new Map(Object.entries(isFields(before) ? before : {}))
  for (const [name, change] of Object.entries(changes))
    all.set(name, isFields(change) ? merged(all.get(name), change) : change)
  return Object.fromEntries(all)
}
