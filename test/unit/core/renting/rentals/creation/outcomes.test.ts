import { expect, test } from 'vitest'
import { adoptInstance, type RentalParts } from '#core/renting/rentals/creation/outcomes.ts'
import { openStoredRentals } from '#core/renting/rentals/stored-rentals.ts'
import { account, accountContext } from '#test/unit/core/account-context.ts'

test('an instance’s own key, told once, is kept before anything is written of the instance', async () => {
  const context = accountContext()
  const rentals = await openStoredRentals(context)
  const id = 'r0000000000000001'
  await rentals.add({
    id,
    account,
    request: {
      offer: 1,
      image: 'pytorch',
      access: 'ssh',
      disk: 20,
      env: [],
      ports: [],
      watchdog: { action: 'stop' },
    },
    offer: { id: 1 },
    step: 'asking',
    before: [],
    asked: 1,
    startedAt: 0,
    deadline: 600,
  })
  const calls: unknown[] = []
  const hooks = {
    onCreated: (instance: number, key: string | undefined) => calls.push([instance, key]),
    limit: async () => void calls.push('limit'),
    watch: async () => void calls.push('watch'),
  }
  const parts = {
    context,
    rentals,
    hooks,
    secrets: { forget: async () => undefined },
  } as unknown as RentalParts
  await adoptInstance(parts, id, 7, { instanceKey: 'own' })
  expect(calls).toEqual([[7, 'own'], 'limit', 'watch'])
})
