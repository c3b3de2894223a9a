import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import type { AccountView } from '../../../../electron/contract/state.ts'
import type { Simulator } from '../../../../simulator/simulator.ts'
import type { OneLife } from '../berth/one-life.ts'
import type { Chance } from '../chance.ts'
import type { Elsewhere } from '../elsewhere.ts'
import type { Timeline } from '../timeline.ts'

/** What the user has before them when they do something. */
export interface Hand {
  chance: Chance
  berth: OneLife
  account: AccountView
  /** World time, epoch seconds. */
  now: number
  /** How many times as soon all comes as in a week. */
  haste: number
  sim: Simulator
  elsewhere: Elsewhere
  timeline: Timeline
  /** Instances that were rented in the console. */
  byHand: Set<number>
}

/** Something a user does. Gives nothing where there is nothing to do it to. */
export interface UserAction {
  name: string
  weight: number
  do(hand: Hand): Promise<unknown> | undefined
}

export function instancesOf({ account }: Pick<Hand, 'account'>): InstanceView[] {
  return Object.values(account.instances)
}

/** One of the instances for which something holds. */
export function anInstance(hand: Hand, holds: (instance: InstanceView) => boolean): InstanceView | undefined {
  return hand.chance.oneOf(instancesOf(hand).filter(holds))
}
