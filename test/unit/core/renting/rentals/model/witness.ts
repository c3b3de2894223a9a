import type { Observer } from '../../../plain-service/one-berth.ts'
import type { Held } from '../../../plain-service/service.ts'
import type { World } from './world.ts'

/** Fresh answers without it that are several: then it may be asked for again. */
const several = 3

/** Holds every request of one Berth against what it may ask for just then. */
export function witness(world: World, at: number): Observer {
  const find = (mark: string) => world.tracked.find(({ id }) => id === mark)
  function wrong(text: string): void {
    world.wrongs.push(text)
  }

  function destroying(held: Held): void {
    const rental = held.mark === undefined ? undefined : find(held.mark)
    if (!rental || rental.berth !== at) {
      wrong(`destroyed #${held.id} of ${held.by}`)
      return
    }
    const { instance } = world.shown(rental)
    // One too many.
    if (instance !== undefined && instance !== held.id) return
    if (world.blind && !rental.told.has(held.id)) wrong(`destroyed #${held.id}, which was a guess`)
    if (rental.cancel === 'no') wrong(`destroyed the wanted #${held.id}`)
    if (!world.onDisk(rental)?.unwanted) wrong(`destroyed #${held.id} and has not written so`)
  }

  return {
    creating(mark, body, offer) {
      const rental = find(mark)
      if (!rental || rental.offer !== offer) {
        wrong(`an unknown ${mark} rents ${offer}`)
        return
      }
      rental.creates += 1
      if (body.env?.['TOKEN'] !== rental.secret) wrong(`${mark} lacks its secret`)
      if ((world.onDisk(rental)?.asked ?? 0) < rental.creates) wrong(`${mark} asks and has not written so`)
      if (rental.creates > 1 && rental.pollsSince < several) wrong(`${mark} asks again, blindly`)
      if (rental.cancel === 'accepted') wrong(`${mark} asks and is not wanted`)
      rental.pollsSince = 0
    },
    created(mark, id) {
      const rental = find(mark)
      if (!rental) return
      rental.heardBy = world.berths[at]
      rental.told.add(id)
    },
    refused(mark) {
      const rental = find(mark)
      if (rental) rental.refusals += 1
    },
    listed() {
      for (const rental of world.tracked) if (rental.berth === at) rental.pollsSince += 1
    },
    destroying,
    seen: (records, certain) => world.seen(at, records, certain),
    took: () => world.took(at),
  }
}
