import { expect, test } from 'vitest'
import { undoables } from '#renderer/berth/remarks.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

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
      instance: 8,
      title: 'Stopping old #8',
      undone: 'old #8 was not stopped.',
      seconds: 4,
    },
    {
      account: account.id,
      instance: 7,
      title: 'Stopping box #7',
      undone: 'box #7 keeps running.',
      seconds: 5,
    },
  ])
  expect(undoables(account, 90_000).map(({ seconds }) => seconds)).toEqual([0, 0])
  expect(undoables(account, 0).map(({ seconds }) => seconds)).toEqual([5, 5])
})
