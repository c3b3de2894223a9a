import fc, { type Arbitrary } from 'fast-check'
import * as v from 'valibot'
import { type CommandName, commands } from '#contract/commands.ts'

/** A call that Berth must refuse. */
export interface Call {
  name: string
  args: unknown
}

/** The parts of a schema from which nearly valid values are made. */
export type Schema = v.GenericSchema & {
  entries?: Record<string, Schema>
  wrapped?: Schema
  item?: Schema
  value?: Schema
  options?: readonly unknown[]
  literal?: unknown
}

/**
 * Invalid calls of every kind: unknown commands, arguments that are no object, and mostly arguments with one thing
 * wrong. The same for the same seed. `carried` is what the transport makes of arguments: a call that arrives valid is
 * left out.
 */
export function malformedCalls(
  count: number,
  seed: number,
  carried: (args: unknown) => unknown = args => args,
): Call[] {
  const names = Object.keys(commands) as CommandName[]
  const spoiled = fc.constantFrom(...names).chain(name =>
    fc
      .tuple(nearly(commands[name].args as Schema), spoiling)
      .map(([args, spoil]) => ({ name, args: carried(spoil(args)) }))
      .filter(call => !v.safeParse(commands[call.name].args, call.args).success),
  )
  const noObject = fc.record({ name: fc.constantFrom(...names), args: rubbish }).map(call => ({
    ...call,
    args: Array.isArray(call.args) || typeof call.args !== 'object' ? carried(call.args) : null,
  }))
  const noCommand = fc.record({
    name: fc
      .oneof(fc.constantFrom('constructor', '__proto__', 'toString', 'Rent', 'rent ', ''), fc.string())
      .filter(name => !Object.hasOwn(commands, name)),
    args: rubbish.map(carried),
  })
  const call = fc.oneof(
    { weight: 8, arbitrary: spoiled },
    { weight: 1, arbitrary: noObject },
    { weight: 1, arbitrary: noCommand },
  )
  return fc.sample<Call>(call, { numRuns: count, seed })
}

/** Texts with a meaning to some command, or to what it calls. */
const texts = [
  'demo',
  '',
  ' ',
  'pytorch/pytorch:latest',
  'https://127.0.0.1:1/',
  'file:///etc/passwd',
  '../../../../etc/passwd',
  '-oProxyCommand=touch /tmp/owned',
  '$(touch /tmp/owned)',
  'ssh',
  '4711',
  '__proto__',
  '\u0000',
  '\ud800',
  'x'.repeat(5000),
]

const rubbish: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 4711, 1.5, 1e308, 2 ** 53, {}, [], ...texts),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Values that fit a schema, or almost. */
function nearly(schema: Schema): Arbitrary<unknown> {
  if (schema.entries) {
    const fields = Object.entries(schema.entries).map(
      ([key, field]) => [key, nearly(field)] as [string, Arbitrary<unknown>],
    )
    return fc.record(Object.fromEntries(fields))
  }
  if (schema.wrapped) return nearly(schema.wrapped)
  switch (schema.type) {
    case 'string':
      return fc.constantFrom(...texts)
    case 'number':
      return fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.double({ noNaN: true }))
    case 'boolean':
      return fc.boolean()
    case 'literal':
      return fc.constant(schema.literal)
    case 'picklist':
      return fc.constantFrom(...(schema.options ?? []))
    case 'array':
      return schema.item ? fc.array(nearly(schema.item), { maxLength: 3 }) : rubbish
    case 'record':
      return fc.dictionary(fc.string(), schema.value ? nearly(schema.value) : rubbish, { maxKeys: 3 })
    case 'union':
    case 'variant':
      return fc.oneof(...((schema.options ?? []) as readonly Schema[]).map(nearly))
    default:
      return rubbish
  }
}

type Spoil = (args: unknown) => unknown

/** Makes one thing wrong, at any depth. */
const spoiling: Arbitrary<Spoil> = fc
  .tuple(
    fc.constantFrom('replace', 'drop', 'add'),
    fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 4 }),
    fc.oneof(fc.constantFrom('program', 'path', 'constructor', 'command', 'key'), fc.string()),
    rubbish,
  )
  .map(
    ([how, way, name, value]) =>
      args =>
        spoil(structuredClone(args), way, how, name, value),
  )

function spoil(args: unknown, way: number[], how: string, name: string, value: unknown): unknown {
  if (typeof args !== 'object' || args === null) return value
  const part = args as Record<string, unknown>
  if (how === 'add') return Object.defineProperty(part, name, { value, enumerable: true, configurable: true })
  const keys = Object.keys(part)
  const [step = 0, ...rest] = way
  const key = keys[step % (keys.length || 1)]
  if (key === undefined) return value
  if (rest.length > 0 && typeof part[key] === 'object') part[key] = spoil(part[key], rest, how, name, value)
  else if (how === 'drop') delete part[key]
  else part[key] = value
  return part
}

/** A call and its seed, for a message from which the call can be made again. */
export function describeCall(call: Call | undefined, seed: number): string {
  return `seed ${seed}: ${call?.name}(${JSON.stringify(call?.args)?.slice(0, 400)})`
}
