import type { InstanceView } from '#contract/instance/instance.ts'
import type { RentalView } from '#contract/market/rental-view.ts'
import { createdWords, pulledShare } from './boot.ts'

interface Step {
  name: string
  current: boolean
}

/** The steps of a boot, with the present one. `entered`: SSH must answer, too. `now`: epoch seconds, account time. */
export function bootSteps(
  rental: Pick<RentalView, 'step'>,
  instance: InstanceView | undefined,
  { now, entered = false }: { now: number; entered?: boolean },
): Step[] {
  const at = !instance ? 0 : instance.state === 'running' ? 3 : instance.state === 'loading' ? 2 : 1
  const share = instance && pulledShare(instance)
  const asked = rental.step === 'lost' ? 'answer lost, checking the account' : 'requesting'
  const created = instance ? createdWords(instance, now) : 'created'
  const steps = [
    ...(at === 0 ? [{ name: asked, at: 0 }] : []),
    { name: at === 1 ? `${created}, provisioning` : created, at: 1 },
    { name: share === undefined ? 'image' : `image ${share} %`, at: 2 },
    { name: 'running', at: 3 },
    ...(entered ? [{ name: 'SSH answers', at: 4 }] : []),
  ]
  // A running instance that must be entered waits for SSH.
  const current = entered && at === 3 ? 4 : at
  return steps.map(step => ({ name: step.name, current: step.at === current }))
}
