import fc, { type Arbitrary } from 'fast-check'
import * as v from 'valibot'
import { type CommandName, commands } from '#contract/commands.ts'
import type { Call, Schema } from './malformed-calls.ts'

/** Where calls can be misdirected to. */
export interface Targets {
  /** Existing accounts; the first is shown. */
  accounts: readonly string[]
  /** Each account's instances, in the same order. */
  instances: readonly (readonly number[])[]
}

/** Valid for some field, but they name nothing. */
const texts = [
  'a00000000',
  ...['r', 'x', 'w', 'g', 't', 'f', 'p', 'j', 'q'].map(kind => `${kind}0123456789abcdef`),
  `c${'0123456789abcdef'.repeat(2)}`,
  `SHA256:${'A'.repeat(43)}`,
  'a'.repeat(64),
  'berth',
  'berth/nobody',
  'berth-1',
  'nobody',
  '/root/nobody',
  'https://127.0.0.1:1/',
  'account:nothing',
  '+4915100000000',
  'nobody@example.com',
  '123456',
  '$(touch /tmp/owned)',
  '22:30',
]
const numbers = [-1e12, -1, 0, 0.5, 1, 2, 60, 4711, 999_999_999, 2 ** 31, 2 ** 53 - 1, 1e308]

/** Samples per command: many only where too few of some are valid, since several fields must agree. */
const attempts = [25, 400]

/** They act on a whole account, so that only a missing account is a wrong one. */
const onWholeAccounts: ReadonlySet<CommandName> = new Set([
  'removeAccount',
  'replaceKey',
  'stopEverything',
  'stopAgents',
  'rentWithRetries',
  'saveWatch',
])

/**
 * Valid calls with a wrong meaning: another account's instance or none, a missing account, unknown ids, times far in
 * the past, huge numbers. At most `most`; the same for the same seed.
 */
export function misdirectedCalls(name: CommandName, most: number, seed: number, targets: Targets): Call[] {
  const schema: Schema = commands[name].args
  const there = onWholeAccounts.has(name) ? [] : [undefined, ...targets.accounts]
  const call = fc.constantFrom(...there, 'a00000000').chain(account => {
    const own = Math.max(0, targets.accounts.indexOf(account ?? ''))
    const foreign = targets.instances.filter((_, at) => at !== own).flat()
    return valid(schema, '', { account, instances: [...foreign, 999_999_999, 2 ** 53 - 1] })
  })
  let found: unknown[] = []
  for (const numRuns of attempts)
    if (found.length < most) found = fc.sample(call, { numRuns, seed }).filter(args => takes(schema, args))
  return found.slice(0, most).map(args => ({ name, args }))
}

interface Wrong {
  account: string | undefined
  instances: readonly number[]
}

/** Values that the schema takes, with a wrong meaning. */
function valid(schema: Schema, field: string, wrong: Wrong): Arbitrary<unknown> {
  if (field === 'account') return fc.constant(wrong.account)
  if (/^(instance|replaces|from|to)$/.test(field) && takes(schema, wrong.instances[0]))
    return fc.constantFrom(...wrong.instances)
  if (schema.entries) {
    const fields = Object.entries(schema.entries).map(
      ([key, inner]) => [key, valid(inner, key, wrong)] as [string, Arbitrary<unknown>],
    )
    // Undefined fields are left out, as the page does.
    return fc.record(Object.fromEntries(fields)).map(args => JSON.parse(JSON.stringify(args)))
  }
  if (schema.wrapped) return fc.option(valid(schema.wrapped, field, wrong), { nil: undefined })
  switch (schema.type) {
    case 'string':
      return oneOf(schema, texts)
    case 'number':
      return oneOf(schema, numbers)
    case 'boolean':
      return fc.boolean()
    case 'literal':
      return fc.constant(schema.literal)
    case 'picklist':
      return fc.constantFrom(...(schema.options ?? []))
    case 'array': {
      const { item } = schema
      return item ? fc.array(valid(item, field, wrong), { minLength: 1, maxLength: 2 }) : fc.constant([])
    }
    case 'record':
      return fc.constant({})
    case 'union':
    case 'variant':
      return fc.oneof(...((schema.options ?? []) as readonly Schema[]).map(one => valid(one, field, wrong)))
    default:
      return oneOf(schema, [undefined, null, ...texts, ...numbers])
  }
}

const takes = (schema: Schema, value: unknown) => v.safeParse(schema, value).success

function oneOf(schema: Schema, values: readonly unknown[]): Arbitrary<unknown> {
  const taken = values.filter(value => takes(schema, value))
  return taken.length === 0 ? fc.constant(undefined) : fc.constantFrom(...taken)
}
