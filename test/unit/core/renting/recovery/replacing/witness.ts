import type { Failover } from '../../../../../../electron/core/renting/attempts/model.ts'
import type { Rental } from '../../../../../../electron/core/renting/rentals/model.ts'
import type { NewInstance } from '../../../../../../electron/service/offers.ts'
import type { Onlooker } from '../../../plain-service/one-berth.ts'
import type { Held } from '../../../plain-service/service.ts'
import type { Standing } from './standing.ts'
import { every, image, mostBid, secret, template } from './terms.ts'
import type { World } from './world.ts'

/** Holds every request of one Berth against what it may ask for just then. */
export function witness(world: World, at: number, standing: Standing): Onlooker {
  const asked = new Map<string, number>()
  function wrong(text: string): void {
    world.wrongs.push(`berth ${at}: ${text}`)
  }

  const rentalOnDisk = (mark: string) =>
    world.onDisk<Rental[]>(at, 'rentals', []).find(({ id }) => id === mark)

  function creating(mark: string, body: NewInstance): void {
    const owner = rentalOnDisk(mark)?.owner
    if (owner === undefined) {
      if (mark !== world.originalMark) wrong(`${mark} is rented and not on disk`)
      return
    }
    asked.set(mark, (asked.get(mark) ?? 0) + 1)
    if ((asked.get(mark) ?? 0) > 3) wrong(`${mark} was asked for too often`)
    const failovers = world.onDisk<Failover[]>(at, 'failovers', [])
    const failover = failovers.find(({ id }) => id === owner)
    if (!failover) {
      wrong(`${owner} rents and is not on disk`)
      return
    }
    const { replaces = 0 } = failover
    asWished(mark, body, replaces)
    const before = world.tries(at, owner).filter(({ id }) => id !== mark)
    if (before.length + 1 > world.history.tries) wrong(`try ${before.length + 1} of ${world.history.tries}`)
    if (standing.isAgainst(owner, mark)) wrong(`${mark} is rented, against the choice`)
    // Each sum is rounded down once or twice.
    const cost = before.reduce((sum, { id }) => sum + world.costOf(id) - 0.000_002, 0)
    if (cost >= world.history.ceiling) wrong(`${owner} rents, with $${cost} spent`)
    for (const { id } of before)
      for (const held of world.living(id)) if (!held.late) wrong(`${mark} is rented beside #${held.id}`)
    const recovery = world.recoveryOnDisk(at, replaces)
    if (recovery && recovery.failover !== owner)
      wrong(`${owner} is not on disk as the replacement of #${replaces}`)
    for (const other of failovers) {
      // One whose original was gone before it was ready has the place of nothing.
      const chained =
        other.replaces === replaces || (other.instance === replaces && recovery?.of !== undefined)
      if (!chained || other.id === owner || other.startedAt > failover.startedAt) continue
      if (failover.startedAt - other.startedAt < every - world.held)
        wrong(`#${replaces} is replaced again too soon`)
    }
  }

  /** It is rented as what it replaces was, for no more than was allowed. */
  function asWished(mark: string, body: NewInstance, replaces: number): void {
    if (body.env?.['BERTH_REPLACES'] !== String(replaces)) wrong(`${mark} does not say what it replaces`)
    if (body.image !== image) wrong(`${mark} runs ${body.image}`)
    if ((body.price ?? mostBid + 1) > mostBid) wrong(`${mark} bids ${body.price}`)
    // What another has rented is rented again as far as its record tells.
    const replaced = world.service.book.get(replaces)
    if (replaced?.by !== world.machines[at]?.name || replaced?.body.template_hash_id === undefined) return
    if (body.template_hash_id !== template) wrong(`${mark} has lost its template`)
    if (body.env?.['TOKEN'] !== secret) wrong(`${mark} lacks its secret`)
  }

  function destroying(held: Held): void {
    const { mark = '', id, by } = held
    const rental = rentalOnDisk(mark)
    if (!rental || rental.owner === undefined || by !== world.machines[at]?.name) {
      wrong(`destroyed #${id} of ${by}`)
      return
    }
    const failover = world.onDisk<Failover[]>(at, 'failovers', []).find(each => each.id === rental.owner)
    if (failover?.step === 'ready' && failover.instance === id) wrong(`destroyed #${id}, which is ready`)
    const surplus = rental.instance !== id && (rental.instance !== undefined || rental.step === 'failed')
    if (!rental.unwanted && !surplus) wrong(`destroyed #${id} and has not written so`)
  }

  return {
    creating,
    destroying,
    stopping({ id }) {
      const recovery = world.recoveryOnDisk(at, id)
      if (recovery?.by === undefined) wrong(`stopped #${id}, which nothing has replaced`)
    },
    created: () => undefined,
    refused: () => undefined,
    listed: () => undefined,
    seen(records, certain) {
      standing.onPoll(certain)
      world.seen(at, records)
    },
    written: name => standing.written(name),
  }
}
