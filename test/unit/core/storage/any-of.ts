import fc from 'fast-check'
import type * as v from 'valibot'

/** What is read of valibot's schemas here. */
interface Shape {
  type: string
  entries?: Record<string, Shape>
  wrapped?: Shape
  item?: Shape
  items?: Shape[]
  key?: Shape
  value?: Shape
  options?: readonly unknown[]
  literal?: unknown
}

/** Texts of strangers: any characters, halves of pairs, and what JSON and objects treat in their own way. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('__proto__', 'constructor', '\ud800', '\u2028', '{"loss": 1e999}', '', ' ', '..', 'a/b'),
)
/** Finite numbers, since no others are stored; JSON knows no negative zero. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(each => each + 0),
  fc.integer(),
  fc.constantFrom(1e300, 5e-324, 2 ** 53, 0.1),
)

/** Any value that has a schema's type, within its bounds or not: reading minds types alone. Optional parts come and go. */
export function anyOf(schema: v.GenericSchema): fc.Arbitrary<unknown> {
  return draw(schema as unknown as Shape)
}

function draw({
  type,
  entries = {},
  wrapped,
  item,
  items,
  key,
  value,
  options = [],
  literal,
}: Shape): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return text
    case 'number':
      return number
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'literal':
      return fc.constant(literal)
    case 'picklist':
      return fc.constantFrom(...options)
    case 'union':
    case 'variant':
      return fc.oneof(...options.map(option => draw(option as Shape)))
    case 'optional':
    case 'exact_optional':
      return fc.option(drawn(wrapped), { nil: undefined })
    case 'nullable':
      return fc.option(drawn(wrapped), { nil: null })
    case 'array':
      return fc.array(drawn(item), { maxLength: 3 })
    case 'tuple':
      return fc.tuple(...(items ?? []).map(draw))
    case 'record':
      return fc.dictionary(keyOf(key), drawn(value), { maxKeys: 3 })
    case 'object':
    case 'strict_object':
    case 'loose_object':
      return fc.record(Object.fromEntries(Object.entries(entries).map(([name, each]) => [name, draw(each)])))
    case 'custom':
    case 'unknown':
    case 'any':
      return fc.constantFrom({ run: 'x' }, { run: 'python3 train.py', env: { A: '1e-4' } })
    default:
      throw new Error(`no values of the kind ${type} are known`)
  }
}

/** Names that valibot drops, since they are no data of an object. */
const dropped = ['__proto__', 'prototype', 'constructor']
function keyOf(shape: Shape | undefined): fc.Arbitrary<string> {
  return drawn(shape)
    .map(String)
    .filter(name => !dropped.includes(name))
}

function drawn(shape: Shape | undefined): fc.Arbitrary<unknown> {
  if (!shape) throw new Error('a schema has no inner one')
  return draw(shape)
}
