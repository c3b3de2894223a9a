import { expect, test } from 'vitest'
import { openStoredRentals, type Retrying } from '#core/renting/rental.ts'
import { endRetries } from '#core/renting/retrying.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { retrying, someAttempt } from './some-rental.ts'

test.for(['ready', 'failed'] as const)(
  'a rental that is cancelled while it ends as %s goes on to destroy its machine',
  async step => {
    const context = accountContext()
    const rentals = await openStoredRentals(context)
    const rental: Retrying = retrying(someAttempt({ step: 'running' }))
    await rentals.add(rental)
    const secrets = { forget: async () => void (await rentals.update(rental.id, { unwanted: true })) }
    const parts = { context, rentals, secrets } as unknown as Parameters<typeof endRetries>[0]
    await endRetries(parts, rental, { step, instance: 4711 })
    expect(rentals.get(rental.id)).toMatchObject({ step: 'trying', unwanted: true })
    await endRetries(parts, rental, { step: 'cancelled' })
    expect(rentals.get(rental.id)).toMatchObject({ step: 'cancelled' })
  },
)
