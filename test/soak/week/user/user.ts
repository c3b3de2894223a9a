import { Refused } from '../berth/one-life.ts'
import type { Chance } from '../chance.ts'
import type { Living } from '../live-days.ts'
import type { Tally } from '../tally.ts'
import { guarding } from './guarding.ts'
import type { Hand, UserAction } from './hand.ts'
import { handiwork } from './handiwork.ts'
import { renting } from './renting.ts'

const actions = [...renting, ...guarding, ...handiwork] as [UserAction, ...UserAction[]]

/** Seconds between two deeds, on average. */
const betweenActions = 120

/** The user does one thing after the other, while Berth lives. None is waited for: some answers take longer than a life. */
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
 * Does one thing, or nothing where what was thought of cannot be done now. What a flaky service refuses, and what dies
 * with a process, is part of life. Throws what nobody foresaw.
 */
async function doSomething(hand: Hand, tally: Tally): Promise<void> {
  const action = hand.chance.weighted(actions)
  try {
    const doing = action.do(hand)
    if (!doing) return
    tally.add(action.name)
    await doing
  } catch (error) {
    // The simulator's own refusals too: what was there a moment ago may be gone.
    const code = error instanceof Refused ? error.code : error instanceof Error ? error.name : ''
    if (code === 'internal' || code === 'invalid_argument' || code === 'TypeError') throw error
    tally.add('deeds that were refused or died')
  }
}
