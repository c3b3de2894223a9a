import type { Onlooker } from '../../../plain-service/one-berth.ts'
import type { Held } from '../../../plain-service/service.ts'
import type { World } from './world.ts'

/** Fresh answers without it that are several: then it may be asked for again. */
const several = 3

/** Holds every request of one Berth against what it may ask for just then. */
export function witness(world: World, at: number): Onlooker {
  const find = (mark: string) => world.wishes.find(({ id }) => id === mark)
  function wrong(text: string): void {
    world.wrongs.push(text)
  }

  function destroying(held: Held): void {
    const wish = held.mark === undefined ? undefined : find(held.mark)
    if (!wish || wish.berth !== at) {
      wrong(`destroyed #${held.id} of ${held.by}`)
      return
    }
    const { instance } = world.shown(wish)
    // One too many.
    if (instance !== undefined && instance !== held.id) return
    if (world.blind && !wish.told.has(held.id)) wrong(`destroyed #${held.id}, which was a guess`)
    if (wish.cancel === 'no') wrong(`destroyed the wanted #${held.id}`)
    if (!world.onDisk(wish)?.unwanted) wrong(`destroyed #${held.id} and has not written so`)
  }

  return {
    creating(mark, body, offer) {
      const wish = find(mark)
      if (!wish || wish.offer !== offer) {
        wrong(`an unknown ${mark} rents ${offer}`)
        return
      }
      wish.creates += 1
      if (body.env?.['TOKEN'] !== wish.secret) wrong(`${mark} lacks its secret`)
      if ((world.onDisk(wish)?.asked ?? 0) < wish.creates) wrong(`${mark} asks and has not written so`)
      if (wish.creates > 1 && wish.looksSince < several) wrong(`${mark} asks again, blindly`)
      if (wish.cancel === 'accepted') wrong(`${mark} asks and is not wanted`)
      wish.looksSince = 0
    },
    created(mark, id) {
      const wish = find(mark)
      if (!wish) return
      wish.heardBy = world.berths[at]
      wish.told.add(id)
    },
    refused(mark) {
      const wish = find(mark)
      if (wish) wish.refusals += 1
    },
    listed() {
      for (const wish of world.wishes) if (wish.berth === at) wish.looksSince += 1
    },
    destroying,
    seen: (records, certain) => world.seen(at, records, certain),
    took: () => world.took(at),
  }
}
