import { expect, test } from 'vitest'
import type { Look } from '../../../../../electron/core/accounts/look/look.ts'
import { lookForAll } from '../../../../../electron/core/accounts/look/look-for-all.ts'

const seen = (...ids: number[]): Look => ({ outcome: 'seen', instances: ids.map(id => ({ id })) })
const failed: Look = { outcome: 'failed', problem: { code: 'unreachable', message: 'No answer.' } }

/** What comes of these answers, one after another, and how many of them were asked for. */
async function found(answers: readonly Look[], expected: readonly number[]) {
  let asked = 0
  const next = async () => answers[asked++] ?? failed
  const look = await lookForAll(next, () => expected)
  const instances = look.outcome === 'seen' ? look.instances : undefined
  return { asked, outcome: look.outcome, ids: instances?.map(({ id }) => id).sort() }
}

test('an answer that has all that is expected is not doubted, new ones or not', async () => {
  expect(await found([seen(1, 2)], [1, 2])).toEqual({ asked: 1, outcome: 'seen', ids: [1, 2] })
  expect(await found([seen(1, 2, 3)], [1, 2])).toMatchObject({ asked: 1, ids: [1, 2, 3] })
  expect(await found([seen()], [])).toMatchObject({ asked: 1, ids: [] })
})

test('what is missing once is asked for once more, and gone when it is missing again', async () => {
  expect(await found([seen(), seen(1, 2)], [1, 2])).toEqual({ asked: 2, outcome: 'seen', ids: [1, 2] })
  expect(await found([seen(2), seen(2)], [1, 2])).toMatchObject({ asked: 2, ids: [2] })
  // Of two answers that lack different ones, each was heard of once.
  expect(await found([seen(2), seen(1)], [1, 2])).toMatchObject({ asked: 2, ids: [1, 2] })
})

test('where the second question comes to nothing, nothing counts as seen', async () => {
  expect(await found([seen(), failed], [1])).toMatchObject({ asked: 2, outcome: 'failed' })
  expect(await found([seen(), { outcome: 'seen' }], [1])).toEqual({
    asked: 2,
    outcome: 'seen',
    ids: undefined,
  })
})
