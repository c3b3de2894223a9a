import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { AccountContext } from '#core/account-context.ts'
import { Transfer } from '#core/copies/record.ts'
import { Ending } from '#core/endings/record.ts'
import { StoredLimit } from '#core/limits/model.ts'
import { Recovery } from '#core/recoveries/record.ts'
import { Rental } from '#core/renting/rental.ts'
import { Run } from '#core/runs/model.ts'
import { openCollection } from '#core/storage/collection.ts'
import { Sweep } from '#core/sweeps/record.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { anyOf } from './any-of.ts'

const schemas: Record<string, v.GenericSchema<unknown, object>> = {
  runs: Run,
  rentals: Rental,
  sweeps: Sweep,
  limits: StoredLimit,
  transfers: Transfer,
  endings: Ending,
  recoveries: Recovery,
}

/** Numbers that no JSON holds. */
const infinite = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

/** The value with that number in the place of its first one, however deep; undefined where it has none. */
function withNumber(value: unknown, number: number): unknown {
  if (typeof value === 'number') return number
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const changed = withNumber(inner, number)
    if (changed === undefined) continue
    return Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }
  }
  return undefined
}

test.each(Object.keys(schemas))(
  'whatever is recorded in %s is read again after a kill, field by field',
  async name => {
    const schema = schemas[name]
    if (!schema) throw new Error(`there is no schema for ${name}`)
    // As it was read before: a text without the spaces around it, for one.
    const record = anyOf(schema).map(each => v.safeParse(schema, each).output as object)
    let broken = 0
    const property = fc.asyncProperty(
      fc.array(record, { maxLength: 3 }),
      record,
      infinite,
      async (all, one, number) => {
        const files = new MemoryFiles()
        const misread: string[] = []
        const start = async () => {
          const dead = new AbortController()
          const onBroken: AccountContext['onBroken'] = ({ why, isAtWrite }) => {
            if (!isAtWrite) misread.push(why)
          }
          const context = accountContext({ files, quitting: dead.signal, onBroken })
          const key = (item: object) => JSON.stringify(item)
          return { stored: await openCollection(context, { name, schema, key }), kill: () => dead.abort() }
        }
        const before = await start()
        for (const each of all) await before.stored.add(each)
        // What no file holds is refused before it is done, and nothing of it remains.
        const bad = withNumber(one, number)
        if (bad) {
          broken += 1
          await expect(before.stored.add(bad)).rejects.toThrow('couldn’t read this again')
        }
        before.kill()
        const after = await start()
        expect(plain(after.stored.all())).toEqual(plain(before.stored.all()))
        expect(misread).toEqual([])
        after.kill()
      },
    )
    await fc.assert(property, { numRuns: 60 })
    expect(broken).toBeGreaterThan(0)
  },
)
