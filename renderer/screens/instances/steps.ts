import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { RentalView } from '../../../electron/contract/market/rental.ts'

interface Step {
  name: string
  current: boolean
}

/** The share of an image that is here, from a service's line such as "pulling image: 64 %". */
function share(message: string | undefined): string | undefined {
  const percent = /(\d{1,3})(?:\.\d+)?\s*%/.exec(message ?? '')?.[1]
  return percent === undefined || Number(percent) > 100 ? undefined : `${percent} %`
}

/** The steps of a rental under way, with the one it is at. */
export function rentalSteps(rental: Pick<RentalView, 'step'>, instance: InstanceView | undefined): Step[] {
  const at = !instance ? 0 : instance.state === 'running' ? 3 : instance.state === 'loading' ? 2 : 1
  const pulled = at === 2 ? share(instance?.statusMessage) : undefined
  const asked = rental.step === 'lost' ? 'answer lost, looking at the account' : 'asking for it'
  return [
    at === 0 ? asked : 'asked',
    at === 1 ? 'created, being provisioned' : 'created',
    pulled ? `pulling image, ${pulled}` : 'pulling image',
    'running',
  ].map((name, index) => ({ name, current: index === at }))
}
