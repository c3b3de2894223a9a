import * as v from 'valibot'
import { AccountId, InstanceId } from '#shared/ids.ts'

/** A command of the page, the tray or a notification: the shape of its argument, and the type of its answer. */
export interface Command<Args extends v.GenericSchema = v.GenericSchema, Answer = unknown> {
  args: Args
  readonly answer?: Answer
}

export function command<Entries extends v.ObjectEntries>(entries: Entries) {
  const args = v.strictObject(entries)
  return { answers: <Answer>() => ({ args }) as Command<typeof args, Answer> }
}

/** By default the shown account. */
export const account = v.optional(AccountId)
export const onInstance = { account, instance: InstanceId }
