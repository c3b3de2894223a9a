import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOwnMark, markIn } from '#ssh/connection/own-mark.ts'

const mark = fc.stringMatching(/^r[0-9a-f]{16}$/)
const instance = fc.integer({ min: 1, max: 1e9 })
/** Lines of other variables, whose values may look like a mark. */
const others = fc.array(
  fc.constantFrom(
    'PATH=/bin',
    'NOTE=BERTH_RENTAL=r0000000000000000',
    'XCONTAINER_ID=7',
    'CONTAINER_ID=abc',
    '',
  ),
)

test('an instance is told from others by its mark, whatever its number, else by its number', () => {
  fc.assert(
    fc.property(mark, mark, instance, instance, others, (own, other, id, otherId, noise) => {
      fc.pre(own !== other && id !== otherId)
      const target = { instance: id, mark: own }
      const seen = (...lines: string[]) => markIn([...noise, ...lines, ...noise].join('\n'))
      const rental = (value: string) => `BERTH_RENTAL=${value}`
      expect(isOwnMark(seen(rental(own), `CONTAINER_ID=${otherId}`), target)).toBe('by mark')
      expect(isOwnMark(seen(rental(other), `CONTAINER_ID=${id}`), target)).toBe('no')
      for (const named of [`CONTAINER_ID=${id}`, `VAST_CONTAINERLABEL=C.${id}`]) {
        expect(isOwnMark(seen(named), target)).toBe('by number')
        expect(isOwnMark(seen(named), { ...target, instance: otherId })).toBe('no')
        expect(isOwnMark(seen(rental(other), named), { instance: id, mark: undefined })).toBe('by number')
      }
      expect(isOwnMark(seen(), target)).toBeUndefined()
    }),
  )
})
