import { expect, test } from 'vitest'
import { afterOutage, type Remark, withRemark } from '#renderer/berth/remarks.ts'

const unreached = { code: 'offline', message: 'The service could not be reached.' }
const refused = { code: 'no_such_offer', message: 'That offer is gone.' }
const of = (id: number, title: string, problem?: Remark['problem']): Remark => ({
  id,
  title,
  ...(problem && { problem }),
})

test('a repeated failure replaces the old remark, a repeated message does not', () => {
  const twice = withRemark([of(1, 'Start of #7 failed', unreached)], of(2, 'Start of #7 failed', unreached))
  expect(twice.map(({ id }) => id)).toEqual([2])
  expect(withRemark(twice, of(3, 'Stop of #7 failed', unreached))).toHaveLength(2)
  expect(withRemark([of(1, 'Copied.')], of(2, 'Copied.'))).toHaveLength(2)
})

test('after an outage its remarks go and all others stay', () => {
  const remarks = [of(1, 'Start failed', unreached), of(2, 'Rent failed', refused), of(3, 'Copied.')]
  expect(afterOutage(remarks).map(({ id }) => id)).toEqual([2, 3])
})
