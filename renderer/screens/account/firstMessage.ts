import * as v from 'valibot'

/** What is wrong with a typed value, in the contract's words with a capital and a full stop; undefined when nothing is. */
export function firstMessage(schema: v.GenericSchema, value: unknown): string | undefined {
  const result = v.safeParse(schema, value)
  if (result.success) return undefined
  const { message } = result.issues[0]
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
