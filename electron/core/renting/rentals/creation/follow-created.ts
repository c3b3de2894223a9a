import type { InstanceView } from '../../../../contract/instance/instance.ts'
import { pollsUntilGone } from '../../../instances/missing-instances.ts'
import { same } from '../../../state/same.ts'
import { nextStep } from '../decide.ts'
import { isUnderWay } from '../model.ts'
import { endRental, type RentalParts } from './outcomes.ts'

/** Seconds by which two tellings of the account's time may differ. */
const blur = 60

/** Follows what was created from poll to poll, until it runs or has failed; what is being worked on is left alone. */
export function createFollower(
  parts: RentalParts,
  isBusy: (rental: string) => boolean,
): (instances: Readonly<Record<string, InstanceView>>, unconfirmed?: ReadonlySet<number>) => void {
  const { context, rentals } = parts
  /** How many polls in a row were without the instance of a rental. */
  const missing = new Map<string, number>()
  return (instances, unconfirmed) => {
    for (const rental of rentals.all()) {
      const { id } = rental
      if ((rental.step !== 'waiting' && rental.step !== 'late') || rental.instance === undefined) continue
      if (rental.unwanted || isBusy(id)) continue
      const instance = instances[rental.instance]
      if (!instance && unconfirmed?.has(rental.instance)) continue
      const absent = (missing.get(id) ?? 0) + 1
      if (instance) missing.delete(id)
      else missing.set(id, absent)
      if (!instance && absent < pollsUntilGone) continue
      // A clock that was set back must not put the deadline off.
      if ((rental.createdAt ?? 0) > context.now() + blur)
        void rentals.update(id, { createdAt: context.now() })
      const { step, problem } = nextStep(rental, instance, context.now())
      if (step === rental.step && same(problem, rental.problem)) continue
      if (!isUnderWay({ ...rental, step })) missing.delete(id)
      if (step === 'failed') void endRental(parts, id, step, problem)
      else void rentals.update(id, { step, problem })
    }
  }
}
