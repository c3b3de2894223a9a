import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type History, histories } from './history.ts'
import type { ModelRental } from './model-rental.ts'
import { World } from './world.ts'

/** Generated histories; BERTH_HISTORIES asks for more. */
const runs = Number(process.env['BERTH_HISTORIES'] ?? 250)

async function live(history: History): Promise<World> {
  const world = new World(history)
  world.service.faults.create.push(...history.faults)
  await world.start()
  world.rent(history.first)
  for (const event of history.events) await world.happen(event)
  await world.calm()
  return world
}

/** What is wrong with the end of a rental once all is quiet; undefined if nothing. */
function wrongEnd(world: World, rental: ModelRental, { shows }: History): string | undefined {
  const others = world.rentals.filter(other => other !== rental && world.knows(other))
  const elsewhere = new Set(shows === 'nothing' ? others.map(other => world.shown(other).instance) : [])
  // Without visible marks it may have been taken by another rental, which then made no further request.
  const living = world.living(rental).filter(id => !elsewhere.has(id))
  const [only] = living
  if (!world.knows(rental)) return only !== undefined ? 'nobody knows of it' : undefined
  const { step, instance, requestCount } = world.shown(rental)
  if (!['running', 'late', 'failed', 'cancelled'].includes(step)) return `it stays ${step}`
  if (rental.creates > 3) return `it asked ${rental.creates} times`
  if (living.length > 1) return `${living.length} of it are there`
  if (rental.cancel !== 'no') return only !== undefined ? 'something is left behind' : undefined
  if (step === 'cancelled') return 'nobody cancelled it'
  // Without visible marks, the only instance may be taken for another’s.
  if (shows === 'nothing' && (instance === undefined || only === undefined)) return undefined
  if (only !== undefined && instance === undefined) return `#${only} is there, and it says ${step}`
  if (only !== undefined && instance !== only) return 'another is shown'
  const { refusals, none, taken, old } = rental
  if (instance === undefined && refusals === 0 && requestCount < 3 && !none && !taken && !old)
    return 'it gave up for no reason'
  return undefined
}

test(`${runs} histories of faults, kills, polls and users end as the model says`, {
  timeout: 3_600_000,
}, async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(histories, async history => {
      const world = await live(history)
      expect(world.wrongs).toEqual([])
      for (const rental of world.rentals) {
        expect(wrongEnd(world, rental, history)).toBeUndefined()
        const end = world.knows(rental) ? world.shown(rental).step : 'forgotten'
        seen.set(end, (seen.get(end) ?? 0) + 1)
      }
      const { files, keychain } = world.platform
      expect([...keychain]).toEqual([])
      expect([...files.writes].filter(({ text }) => text.includes('secret of'))).toEqual([])
    }),
    { numRuns: runs },
  )
  for (const end of ['running', 'late', 'failed', 'cancelled'])
    expect(seen.get(end) ?? 0).toBeGreaterThan(runs / 100)
})
