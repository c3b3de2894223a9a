import type { Fate } from './fate.ts'

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
