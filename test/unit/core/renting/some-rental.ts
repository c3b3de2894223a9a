import type { RentalNeighbours } from '#core/renting/adopt.ts'
import type { Attempt, Rental, Retrying } from '#core/renting/rental.ts'
import type { RentalSearch } from '#shared/market/rent-request.ts'

export const someSearch: RentalSearch = {
  query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
  filter: {},
  order: { column: 'price', descending: false },
}

/** The parts around rentals, where nobody has a cap, and nothing follows. */
export const neighbours: RentalNeighbours = {
  ledger: {
    reserve: async () => undefined,
    found: () => undefined,
    refusal: () => undefined,
    need: () => ({ perHour: undefined, machines: 1, today: 0 }),
  },
  mostOf: () => undefined,
  onCreated: () => undefined,
  limit: async () => undefined,
  recover: async () => undefined,
}

/** An attempt whose instance is awaited, by default. */
export function someAttempt(given: Partial<Attempt> = {}): Attempt {
  return {
    mark: 'r0000000000000001',
    offer: { id: 1, machineId: 10 },
    step: 'waiting',
    before: [],
    requestCount: 1,
    instance: 4711,
    startedAt: 1000,
    createdAt: 1010,
    deadline: 600,
    ...given,
  }
}

/** A rental of one offer, under way by default. */
export function someRental(given: Partial<Rental> = {}): Rental {
  return {
    id: 'r0000000000000001',
    account: 'a00000001',
    request: { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] },
    why: 'user',
    step: 'trying',
    attempts: [someAttempt()],
    startedAt: 1000,
    ...given,
  }
}

/** The same with retries. */
export function retrying(...attempts: Attempt[]): Retrying {
  const retries = { attempts: 5, ceiling: 1, deadline: 600 }
  return { ...someRental({ attempts }), search: someSearch, retries }
}
