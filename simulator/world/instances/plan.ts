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

/** A change of an instance at a moment of world time (milliseconds). */
export type Step =
  | { at: number; status: string | null; message: string }
  /** A rival bids so many micro-dollars per hour. */
  | { at: number; rivalBid: number }

/** The kind of boot: with the image to pull, with the image there, or a restart while it runs. */
export type Start = 'first' | 'again' | 'reboot'

const PULL_REPORTS = 9

/** The steps of a boot that begins at `start` (world milliseconds), the oldest first. */
export function bootPlan(fate: Fate, image: string, start: number, how: Start): Step[] {
  const at = (seconds: number) => start + Math.round(seconds * 1000)
  const { trouble } = fate
  const pulling = how === 'first'
  const loadingFrom = pulling ? fate.provisioned : 0
  const done = pulling ? fate.booted : fate.restarted
  const steps: Step[] = []
  if (pulling) steps.push({ at: start, status: null, message: '' })
  const first = how === 'reboot' ? 'rebooting' : 'loading'
  for (let report = 0; report <= PULL_REPORTS; report++) {
    const share = report / (PULL_REPORTS + 1)
    if (trouble?.whileLoading && share > 0.6) break
    const message = pulling ? `Pulling ${image}: ${Math.round(share * 100)} %` : `Starting ${image}`
    steps.push({ at: at(loadingFrom + (done - loadingFrom) * share), status: first, message })
    if (!pulling) break
  }
  if (trouble?.whileLoading) {
    const when = at(loadingFrom + (done - loadingFrom) * 0.7)
    if (trouble.kind !== 'stuck')
      steps.push({ at: when, status: trouble.kind, message: lastWords(trouble.kind) })
    return steps
  }
  steps.push({ at: at(done), status: 'running', message: `success, running ${image}` })
  if (trouble && trouble.kind !== 'stuck') {
    steps.push({ at: at(done + trouble.after), status: trouble.kind, message: lastWords(trouble.kind) })
  }
  return steps
}

/** A registry whose images need a login. */
const PRIVATE_REGISTRY = 'private.example'

/** Whether the image can be pulled with a login to that registry, or without one. */
export function canPull(image: string, registry: string | null): boolean {
  return !image.startsWith(`${PRIVATE_REGISTRY}/`) || registry === PRIVATE_REGISTRY
}

/** The steps of a boot whose image cannot be pulled. */
export function deniedPlan(fate: Fate, image: string, start: number): Step[] {
  const at = (seconds: number) => start + Math.round(seconds * 1000)
  const message = `Error response from daemon: pull access denied for ${image}, it may require 'docker login'`
  return [
    { at: start, status: null, message: '' },
    { at: at(fate.provisioned), status: 'loading', message: `Pulling ${image}: 0 %` },
    { at: at(fate.provisioned + 5), status: 'created', message },
  ]
}

function lastWords(kind: 'exited' | 'offline' | 'unknown'): string {
  if (kind === 'exited') return 'Error: the container exited with code 137'
  if (kind === 'offline') return 'The host disconnected'
  return 'No heartbeat from the host'
}
