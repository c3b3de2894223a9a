import { expect, test } from 'vitest'
import { adoptInstance, type CreationParts } from '#core/renting/adopt.ts'
import { openStoredRentals } from '#core/renting/rental.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { someRental, someTry } from './some-rental.ts'

test('an instance’s own key, sent only once, is stored before its record', async () => {
  const context = accountContext()
  const rentals = await openStoredRentals(context)
  const rental = someRental({ tries: [someTry({ step: 'asking', instance: undefined })] })
  await rentals.add(rental)
  const calls: unknown[] = []
  const hooks = {
    onCreated: (instance: number, key: string | undefined) => calls.push([instance, key]),
    limit: async () => void calls.push('limit'),
  }
  const parts = {
    context,
    tries: rentals.tries,
    hooks,
    secrets: { forget: async () => undefined },
  } as unknown as CreationParts
  await adoptInstance(parts, rental.id, 7, { instanceKey: 'own' })
  expect(calls).toEqual([[7, 'own'], 'limit'])
})
