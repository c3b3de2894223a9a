import { Refused } from '../berth/one-life.ts'
import type { Tally } from '../tally.ts'
import { guarding } from './guarding.ts'
import type { Deed, Hand } from './hand.ts'
import { handiwork } from './handiwork.ts'
import { renting } from './renting.ts'

const deeds = [...renting, ...guarding, ...handiwork] as [Deed, ...Deed[]]

/**
 * Does one thing, or nothing where what was thought of cannot be done now. What a flaky service refuses, and what dies
 * with a process, is part of life. Throws what nobody foresaw.
 */
export async function doSomething(hand: Hand, tally: Tally): Promise<void> {
  const deed = hand.chance.weighted(deeds)
  const doing = deed.do(hand)
  if (!doing) return
  tally.add(deed.name)
  try {
    await doing
  } catch (error) {
    // The simulator's own refusals too: what was there a moment ago may be gone.
    const code = error instanceof Refused ? error.code : error instanceof Error ? error.name : ''
    if (code === 'internal' || code === 'invalid_argument' || code === 'TypeError') throw error
    tally.add('deeds that were refused or died')
  }
}
