import { Draw } from '../draw.ts'

/** How a machine’s boots turn out. Times in world seconds from the start of the boot. */
export interface Fate {
  /** Until the pull of the image begins. */
  provisioned: number
  /** Until a first boot is complete; 60 to 300. */
  booted: number
  /** Until a start with the image already pulled is complete. */
  restarted: number
  /** The machine's trouble; null without any. */
  trouble: Trouble | null
}

export interface Trouble {
  kind: 'stuck' | 'exited' | 'offline' | 'unknown'
  /** Whether it occurs while the image is pulled, or later. */
  whileLoading: boolean
  /** World seconds from the end of the boot until it occurs, unless that is while loading. */
  after: number
}

/** The default share of flaky machines. */
export const FLAKY = 0.12

/** A machine's fate, from the seed and its id alone; `flaky` is the share of flaky machines. */
export function machineFate(seed: number, machineId: number, flaky: number): Fate {
  const draw = new Draw(seed, 'fate', machineId)
  const fate = {
    provisioned: draw.between(4, 15),
    booted: 60 + draw.next() ** 2 * 235,
    restarted: draw.between(12, 45),
  }
  if (!draw.chance(flaky)) return { ...fate, trouble: null }
  const kind = draw.pick(['stuck', 'exited', 'exited', 'offline', 'unknown'])
  return {
    ...fate,
    trouble: {
      kind,
      whileLoading: kind === 'stuck' || draw.chance(0.4),
      after: draw.between(10 * 60, 150 * 60),
    },
  }
}

/** A rival's bid for an interruptible instance's GPUs. */
export interface Rival {
  /** World seconds after the boot at which the bid comes. */
  after: number
  /** The bid as a multiple of the offer's lowest bid. */
  factor: number
}

/** The share of machines that rivals bid for. */
const CONTESTED = 0.4

/** The rival that appears after the given boot of an instance on a machine, if any. */
export function machineRival(seed: number, machineId: number, boot: number): Rival | null {
  if (!new Draw(seed, 'contested', machineId).chance(CONTESTED)) return null
  const draw = new Draw(seed, 'rival', machineId, boot)
  return { after: draw.between(25 * 60, 240 * 60), factor: draw.between(1.05, 1.9) }
}
