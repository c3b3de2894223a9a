import type { InstanceState } from './instance.ts'

/**
 * - `booting`: on its way to running, without waiting for a GPU that is free;
 * - `onItsWay`: that, or told to run and not there yet;
 * - `gpusCharged`: GPUs are paid for, not its disk alone;
 * - `priceUnsure`: whether they are is not certain;
 * - `stoppable`: GPUs are paid for, or would be again by themselves. What boots is not: it may be a rental under way;
 * - `diskOnly`: its disk is all that it costs;
 * - `lapsed`: does not run, and may by itself once it is there again;
 * - `dead`: cannot run as things are (section 3.1);
 * - `over`: does not run, and will not by itself;
 * - `halted`: stopped, or about to be.
 */
type Trait =
  | 'booting'
  | 'onItsWay'
  | 'gpusCharged'
  | 'priceUnsure'
  | 'stoppable'
  | 'diskOnly'
  | 'lapsed'
  | 'dead'
  | 'over'
  | 'halted'

const traits: Readonly<Record<InstanceState, readonly Trait[]>> = {
  provisioning: ['booting', 'onItsWay'],
  loading: ['booting', 'onItsWay'],
  running: ['gpusCharged', 'stoppable'],
  restarting: ['onItsWay', 'gpusCharged', 'priceUnsure', 'stoppable'],
  waiting: ['onItsWay', 'stoppable'],
  stopping: ['gpusCharged', 'priceUnsure', 'over', 'halted'],
  stopped: ['diskOnly', 'over', 'halted'],
  outbid: ['diskOnly'],
  exited: ['stoppable', 'lapsed'],
  crashed: ['diskOnly', 'dead', 'over'],
  unstartable: ['diskOnly', 'dead', 'over'],
  silent: ['priceUnsure', 'stoppable', 'lapsed', 'dead'],
  offline: ['diskOnly', 'lapsed', 'dead'],
  destroying: ['priceUnsure', 'over'],
  other: ['gpusCharged', 'priceUnsure', 'stoppable'],
}

/** Whether an instance in that state has the trait. One that is not known, as another version may have kept it, has none. */
export function hasTrait(state: InstanceState, trait: Trait): boolean {
  return traits[state]?.includes(trait) ?? false
}
