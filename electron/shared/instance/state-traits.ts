import type { InstanceState } from './instance.ts'

/**
 * - `booting`: on the way to running, and not waiting for a free GPU;
 * - `onItsWay`: booting, restarting, or waiting for a free GPU;
 * - `gpusCharged`: its GPUs are charged, not only its disk;
 * - `idle`: its GPUs are charged, and compute nothing;
 * - `priceUnsure`: it is uncertain whether its GPUs are charged;
 * - `stoppable`: its GPUs are charged, or would be again without an action. Not while booting: it may be a rental;
 * - `diskOnly`: at most its disk is charged;
 * - `lapsed`: does not run now, and may run again automatically;
 * - `dead`: cannot run in this state (section 3.1);
 * - `over`: does not run, and won’t without a start;
 * - `halted`: stopped or stopping, or may have been;
 * - `startable`: at rest, and can be started.
 */
type Trait =
  | 'booting'
  | 'onItsWay'
  | 'gpusCharged'
  | 'idle'
  | 'priceUnsure'
  | 'stoppable'
  | 'diskOnly'
  | 'lapsed'
  | 'dead'
  | 'over'
  | 'halted'
  | 'startable'

const traits: Readonly<Record<InstanceState, readonly Trait[]>> = {
  provisioning: ['booting', 'onItsWay'],
  loading: ['booting', 'onItsWay'],
  running: ['gpusCharged', 'stoppable'],
  restarting: ['onItsWay', 'gpusCharged', 'priceUnsure', 'stoppable'],
  frozen: ['gpusCharged', 'idle', 'stoppable'],
  waiting: ['onItsWay', 'stoppable'],
  stopping: ['gpusCharged', 'priceUnsure', 'over', 'halted'],
  stopped: ['diskOnly', 'over', 'halted', 'startable'],
  outbid: ['diskOnly'],
  exited: ['stoppable', 'lapsed'],
  ended: ['diskOnly', 'over', 'halted', 'startable'],
  crashed: ['diskOnly', 'dead', 'over'],
  unstartable: ['diskOnly', 'dead', 'over'],
  silent: ['priceUnsure', 'stoppable', 'lapsed', 'dead'],
  offline: ['diskOnly', 'lapsed', 'dead'],
  destroying: ['priceUnsure', 'over'],
  other: ['gpusCharged', 'priceUnsure', 'stoppable'],
}

/** Whether an instance in that state has the trait. An unknown state, stored by another version, has none. */
export function hasTrait(state: InstanceState, trait: Trait): boolean {
  return traits[state]?.includes(trait) ?? false
}
