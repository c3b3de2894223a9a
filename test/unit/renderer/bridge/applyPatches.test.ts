import fc from 'fast-check'
import { create, type Patches } from 'mutative'
import { expect, test } from 'vitest'
import { applyPatches } from '#renderer/bridge/replica.ts'

type Box = Record<string, unknown>

function patchesOf<Value extends object>(before: Value, change: (draft: Value) => void): Patches {
  const [, patches] = create(before, draft => change(draft as Value), { enablePatches: true })
  return patches
}

const leaf = fc.oneof(fc.integer(), fc.string(), fc.constant(null))
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '4711'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}))
const box = fc.dictionary(fc.constantFrom('a', 'b', 'c', '4711'), value, {
  maxKeys: 4,
  noNullPrototype: true,
})

/** Makes the draft what `wanted` says, in place as far as both have the same shape. */
function become(draft: Box | unknown[], wanted: Box | unknown[]): void {
  if (Array.isArray(draft)) draft.length = Math.min(draft.length, (wanted as unknown[]).length)
  else for (const key of Object.keys(draft)) if (!Object.hasOwn(wanted, key)) delete draft[key]
  for (const [key, next] of Object.entries(wanted)) {
    const now = (draft as Box)[key]
    const same = isContainer(now) && isContainer(next) && Array.isArray(now) === Array.isArray(next)
    if (same) become(now, next)
    else (draft as Box)[key] = next
  }
}

function isContainer(value: unknown): value is Box | unknown[] {
  return typeof value === 'object' && value !== null
}

test('patches of any change give the changed value, and leave the value before as it was', () => {
  fc.assert(
    fc.property(box, box, (before, after) => {
      const kept = structuredClone(before)
      const sent = JSON.parse(JSON.stringify(patchesOf(before, draft => become(draft, after)))) as Patches
      expect(applyPatches(before, sent)).toEqual(after)
      expect(before).toEqual(kept)
    }),
  )
})

test('untouched parts stay the same object', () => {
  const before = { touched: { list: [{ n: 1 }, { n: 2 }] }, other: { list: [] } }
  const patches = patchesOf(before, draft => {
    const second = draft.touched.list[1]
    if (second) second.n = 3
  })
  const after = applyPatches(before, patches)
  expect(after.touched.list[1]).toEqual({ n: 3 })
  expect(after.touched.list[0]).toBe(before.touched.list[0])
  expect(after.other).toBe(before.other)
})

test.each([
  ['where there is nothing', ['none', 'x']],
  ['in a text', ['text', 'x', 'y']],
  ['in what every object inherits', ['__proto__', 'x']],
])('a patch %s is refused', (_, path) => {
  expect(() => applyPatches({ text: 'a' }, [{ op: 'replace', path, value: 1 }])).toThrow('no place')
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})
