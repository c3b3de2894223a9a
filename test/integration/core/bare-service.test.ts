import { expect, type TestContext, test } from 'vitest'
import { spendWords } from '../../../electron/contract/spending/spend-words.ts'
import { startOnBareService } from './bare-service.ts'

/** Three running instances of unknown cost, and a guard on the credit. */
async function guarded(context: TestContext) {
  const { service, under } = await startOnBareService(context)
  for (const id of [1, 2, 3]) service.instances.set(id, 'running')
  await under.run('refresh', {})
  await under.run('setGuard', {
    action: 'stop',
    warning: 0,
    missed: 'act',
    when: { kind: 'credit', hours: 6 },
  })
  const credit = async (dollars: number) => {
    service.user = { ...service.user, credit: dollars }
    await under.run('refresh', {})
  }
  return { service, under, credit, guard: () => Object.values(under.account().guards)[0] }
}

test('without prices a guard says that it cannot see the spending, and acts by the fall of the credit', async context => {
  const { service, under, credit, guard } = await guarded(context)
  await credit(10)
  expect(spendWords(under.account())).toBe('unknown')
  expect(guard()?.problem?.code).toBe('spending_unseen')
  expect(guard()?.dueAt).toBeUndefined()
  await credit(9.5)
  expect(service.stopped).toEqual([])
  await credit(7)
  await expect.poll(() => service.stopped).toEqual([1, 2, 3])
})

test('without prices a guard on the credit stops what runs while the credit is used up', async context => {
  const { service, under } = await startOnBareService(context)
  service.user = { ...service.user, credit: 0 }
  service.instances.set(1, 'running')
  await under.run('refresh', {})
  const when = { kind: 'credit', hours: 6 } as const
  await under.run('setGuard', { action: 'stop', warning: 0, missed: 'act', when })
  await under.run('refresh', {})
  await expect.poll(() => service.stopped).toEqual([1])
})
