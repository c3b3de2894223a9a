import { expect, test } from 'vitest'
import { afterOutage, type Remark, shownRemark, undoables, withRemark } from '#renderer/bridge/remarks.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, limitView } from '#test/unit/views.ts'

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

test('an alert waits for the answer to what the user has done, and only the last one is told', () => {
  const news = (id: number): Remark => ({ id, title: 'Ready', isNews: true })
  const answered = withRemark(withRemark([of(1, 'Copied.')], of(2, 'llama keeps running.')), news(3))
  const remarks = [4, 5, 6, 7].reduce((before, id) => withRemark(before, news(id)), answered)
  expect(shownRemark(remarks)?.id).toBe(2)
  expect(shownRemark(remarks.filter(({ isNews }) => isNews))?.id).toBe(7)
  expect(shownRemark([of(8, 'Rent failed', refused)])).toBeUndefined()
})

test('after an outage its remarks go and all others stay', () => {
  const remarks = [of(1, 'Start failed', unreached), of(2, 'Rent failed', refused), of(3, 'Copied.')]
  expect(afterOutage(remarks).map(({ id }) => id)).toEqual([2, 3])
})

test('actions asked for together are one, which is undone as a whole', () => {
  const undoable = { 7: soon(9000), 8: soon(9040), 9: { ...soon(9050), action: 'start' as const } }
  const account = accountView({ undoable }, ...[7, 8, 9].map(id => instanceView({ id })))
  expect(undoables(account, 8000)).toMatchObject([
    { instances: [7, 8], title: 'Stopping 2 instances', undone: 'Stop of 2 instances was undone.' },
    { instances: [9], title: 'Starting Instance #9' },
  ])
})

test('a start says that the limit which has stopped the instance is set again, unless another one is set', () => {
  const limits = { done: limitView({ id: 'done', instance: 9, step: 'done' }) }
  const undoable = { 9: { ...soon(9000), action: 'start' as const } }
  const titleWith = (more: AccountView['limits']) =>
    undoables(accountView({ undoable, limits: { ...limits, ...more } }, instanceView({ id: 9 })), 8000)[0]
      ?.title
  expect(titleWith({})).toBe('Starting Instance #9 with its limit set again')
  expect(titleWith({ other: limitView({ id: 'other', instance: 9 }) })).toBe('Starting Instance #9')
})

const soon = (sendAt: number) => ({ action: 'stop', sendAt }) as const

test('pending actions count down in whole seconds, the newest last', () => {
  const account = accountView(
    { undoable: { 7: soon(9000), 8: soon(8000) } },
    instanceView({ id: 7, label: 'box' }),
    instanceView({ id: 8, label: 'old', state: 'outbid' }),
  )
  expect(undoables(account, 4600)).toEqual([
    {
      account: account.id,
      action: 'stop',
      instances: [8],
      title: 'Stopping old #8',
      undone: 'old #8 was not stopped.',
      seconds: 4,
    },
    {
      account: account.id,
      action: 'stop',
      instances: [7],
      title: 'Stopping box #7',
      undone: 'box #7 keeps running.',
      seconds: 5,
    },
  ])
  expect(undoables(account, 90_000).map(({ seconds }) => seconds)).toEqual([0, 0])
  expect(undoables(account, 0).map(({ seconds }) => seconds)).toEqual([5, 5])
})
