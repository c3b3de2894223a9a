import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import type { AccountView } from '../../../../electron/contract/state.ts'
import type { Simulator } from '../../../../simulator/simulator.ts'
import type { OneLife } from '../berth/one-life.ts'
import type { Chance } from '../chance.ts'
import type { Elsewhere } from '../elsewhere.ts'
import type { Timeline } from '../timeline.ts'

/** What a user action works with. */
export interface Hand {
  chance: Chance
  berth: OneLife
  account: AccountView
  /** World time, epoch seconds. */
  now: number
  /** The factor of events compared with the week. */
  haste: number
  sim: Simulator
  elsewhere: Elsewhere
  timeline: Timeline
  /** Instances rented in the console. */
  byHand: Set<number>
}

/** An action of the user. `do` gives undefined if it is not possible now. */
export interface UserAction {
  name: string
  weight: number
  do(hand: Hand): Promise<unknown> | undefined
}

export function instancesOf({ account }: Pick<Hand, 'account'>): InstanceView[] {
  return Object.values(account.instances)
}

/** One of the instances that match. */
export function anInstance(hand: Hand, holds: (instance: InstanceView) => boolean): InstanceView | undefined {
  return hand.chance.oneOf(instancesOf(hand).filter(holds))
}
