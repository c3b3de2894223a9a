import type { Args } from '#contract/commands.ts'
import { isRenting, type RentalView } from '#shared/market/rental-view.ts'
import type { SimulatorOptions } from '#simulator/simulator.ts'
import type { BerthUnderTest, World } from '#test/berth/world.ts'
import { test as base, type Connected } from '#test/berth/world.ts'
import { type Detour, startDetour } from '#test/e2e/detour.ts'

/** A test that opens worlds where nothing listens at the SSH address, so that no attempt ends automatically. */
export const test = base.extend('openShut', ({ openWorld }, { onCleanup }) => {
  const detours: Detour[] = []
  onCleanup(async () => void (await Promise.all(detours.map(detour => detour.close()))))
  return async (options?: SimulatorOptions): Promise<Connected> => {
    const world = await openWorld(options)
    const detour = await startDetour(world.sim.baseUrl, 9)
    detours.push(detour)
    return { world, under: await world.startConnected(detour.baseUrl) }
  }
})

/** Arguments to rent the cheapest offer with retries; `limits` and `request` replace single fields. */
export function retriesRequest(
  limits: Partial<Args<'rentWithRetries'>['limits']> = {},
  request: Partial<Args<'rentWithRetries'>['request']> = {},
): Args<'rentWithRetries'> {
  return {
    search: {
      query: {
        type: request.bid === undefined ? 'on-demand' : 'bid',
        verifiedOnly: false,
        storage: 20,
        limit: 200,
      },
      filter: {},
      order: { column: 'price', descending: false },
    },
    request: { image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [], ...request },
    limits: { attempts: 5, ceiling: 1, deadline: 3600, ...limits },
  }
}

export function rentalOf(under: BerthUnderTest, id: string): RentalView | undefined {
  return under.account().rentals[id]
}

/** Waits until a rental has ended; undefined once it is off the list. */
export async function ended(
  under: BerthUnderTest,
  id: string,
  within = 150_000,
): Promise<RentalView | undefined> {
  await under.until(() => {
    const view = rentalOf(under, id)
    return view === undefined || !isRenting(view)
  }, within)
  return rentalOf(under, id)
}

interface Listed {
  id: number
  actual_status: string | null
}

/** The account's instances, as the service lists them now. */
export async function onAccount({ api }: World): Promise<Listed[]> {
  return (await api<{ instances: Listed[] }>('GET', '/api/v0/instances/')).instances
}
