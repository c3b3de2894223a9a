import { expect, test, vi } from 'vitest'
import { tellOfRetries } from '#core/renting/messages.ts'
import { openStoredRentals, type Retrying } from '#core/renting/rental.ts'
import { rentalViews } from '#core/renting/rental-view.ts'
import { endRetries, Retries } from '#core/renting/retrying.ts'
import { BerthError } from '#shared/problem.ts'
import { accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { instanceView } from '#test/unit/views.ts'
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

test('where no offer fits, a run speaks for itself, and anyone else is alerted', () => {
  const told = (rental: Retrying) => {
    const { said, ...context } = noting()
    tellOfRetries(context as unknown as Parameters<typeof tellOfRetries>[0], rental, {
      text: 'Renting with retries failed',
      end: 'failed',
      problem: { code: 'no_offers', message: 'None fits.' },
    })
    return said.join()
  }
  expect(told({ ...retrying(), why: 'run' })).toMatch(/^No offer fits now/)
  expect(told({ ...retrying(someAttempt()), why: 'run' })).toMatch(/^Nothing could be rented after 1/)
  expect(told(retrying())).toMatch(/^Nothing could be rented: no offer met your limits/)
})

const patience = { timeout: 30_000 }

test('a machine that can’t be entered says why, until it can', async () => {
  let failure: Error | undefined = new BerthError({
    code: 'ssh_refused',
    message: 'Nothing listens on port 22.',
  })
  const probe = async () => {
    if (failure) throw failure
  }
  const access = { probe, connect: async () => ({ release: () => undefined }) }
  const client = () => undefined
  const given = { access, client, now: () => 1000 } as unknown as Parameters<typeof accountContext>[0]
  const context = accountContext({ ...given, activity: { add: () => undefined } as never })
  const rentals = await openStoredRentals(context)
  const rental = retrying(someAttempt({ step: 'running', runningAt: 1000 }))
  await rentals.add(rental)
  const secrets = { forget: async () => undefined }
  const hosts = { blame: async () => undefined }
  const parts = { context, rentals, secrets, hosts } as unknown as ConstructorParameters<typeof Retries>[0]
  const retries = new Retries(parts, { actedOn: () => undefined })
  const running = { 4711: instanceView({ id: 4711, state: 'running' }) }
  const poll = () => retries.onPoll(freshAnswer(context, running))
  const view = () => rentalViews(rentals.all(), running)[rental.id]

  poll()
  await vi.waitFor(() => expect(view()?.problem?.message).toBe('Nothing listens on port 22.'), patience)
  expect(view()?.step).toBe('entering')
  failure = undefined
  poll()
  await vi.waitFor(() => expect(rentals.get(rental.id).step).toBe('ready'), patience)
  expect(rentals.get(rental.id).attempts[0]?.problem).toBeUndefined()
})
