import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { rented } from '#cli/market.ts'
import { secondsOf } from '#cli/options.ts'
import { accountView, instanceView, rentalView } from '../views.ts'

const id = 'r00000000000000aa'

/** What `berth rent` answers where State becomes each of these in turn. */
function answerAfter(...states: ReturnType<typeof accountView>[]) {
  const [first = accountView()] = states
  const left = [...states]
  const connection = {
    command: async () => id,
    change: async () => void left.shift(),
    state: async () => ({ accounts: { [first.id]: left[0] } }),
  }
  return rented({ connection } as unknown as Call, first, { offer: 1, image: 'x', disk: 9 })
}

const renting = (given: Parameters<typeof rentalView>[0]) => ({
  rentals: { [id]: rentalView({ id, step: 'waiting', ...given }) },
})
const other = instanceView({ id: 6001 })

test('rent names the instance with its mark, whatever the answer to its creation named', async () => {
  const answer = answerAfter(
    accountView(renting({ step: 'asking' }), other),
    accountView(renting({ instance: 6001 }), other),
    accountView(renting({ step: 'lost' }), other),
    accountView(renting({ instance: 5001 }), other, instanceView({ id: 5001, mark: id })),
  )
  expect(await answer).toEqual({ rental: id, step: 'waiting', instance: 5001 })
})

test('rent names what the answer named once a list has confirmed it, where the service hides marks', async () => {
  const answer = answerAfter(
    accountView(renting({ instance: 6001 })),
    accountView(renting({ instance: 6001, isOwn: true }), other),
  )
  expect(await answer).toEqual({ rental: id, step: 'waiting', instance: 6001 })
})

test('a time to rent for is more than none, which would mean for ever', () => {
  expect(secondsOf('--for', '1h30m')).toBe(5400)
  expect(secondsOf('--for', undefined)).toBeUndefined()
  for (const none of ['0', '0h', '0m', '', '2', 'h'])
    expect(() => secondsOf('--for', none)).toThrow('--for takes a time such as 20m or 2h.')
})
