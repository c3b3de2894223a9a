import { Refused } from '../berth/one-life.ts'
import type { Chance } from '../chance.ts'
import type { Living } from '../live-days.ts'
import type { Tally } from '../tally.ts'
import { guarding } from './guarding.ts'
import type { Hand, UserAction } from './hand.ts'
import { handiwork } from './handiwork.ts'
import { renting } from './renting.ts'

const actions = [...renting, ...guarding, ...handiwork] as [UserAction, ...UserAction[]]

/** Mean seconds between two actions. */
const betweenActions = 120

/** Runs user actions while Berth lives, without waiting for answers, since some take longer than a life. */
export function beginUsing(living: Living, chance: Chance): void {
  const { agenda, pace, broken } = living
  agenda.add(pace.now + (chance.pause(betweenActions) / living.haste) * 1000, async () => {
    if (living.isOver) return
    beginUsing(living, chance)
    const { lives, sim, elsewhere, timeline, byHand, tally, now } = living
    const berth = lives.now
    const account = berth.hasBegun ? await berth.account().catch(() => null) : null
    if (!account) return
    const hand = { chance, berth, account, now: now(), haste: living.haste, sim, elsewhere, timeline, byHand }
    doSomething(hand, tally).catch((error: unknown) => broken.push(`an action ended with ${error}`))
  })
}

/**
 * Runs one random action, if it is possible now. Ignores refusals of the flaky service and deaths of the process.
 * Throws unforeseen errors.
 */
async function doSomething(hand: Hand, tally: Tally): Promise<void> {
  const action = hand.chance.weighted(actions)
  try {
    const doing = action.do(hand)
    if (!doing) return
    tally.add(action.name)
    await doing
  } catch (error) {
    // The simulator's own refusals count, too, since instances may be gone by now.
    const code = error instanceof Refused ? error.code : error instanceof Error ? error.name : ''
    if (code === 'internal' || code === 'invalid_argument' || code === 'TypeError') throw error
    tally.add('deeds that were refused or died')
  }
}
