import type { AccountPoll } from '#core/account-context.ts'
import { pollsUntilGone } from '#core/instances/missing-polls.ts'
import { isDeepEqual } from '#core/state/same.ts'
import { nextRentalStep } from '../decide.ts'
import { endRental, type RentalParts } from './outcomes.ts'

/** Seconds by which two answers about the account’s time may differ. */
const uncertainty = 60

/** Follows created instances from poll to poll until they run or have failed; skips those a loop is working on. */
export function createFollower(
  parts: RentalParts,
  isBusy: (rental: string) => boolean,
): (poll: AccountPoll) => void {
  const { context, rentals } = parts
  return ({ account: { instances }, pollsMissing }) => {
    for (const rental of rentals.all()) {
      const { id } = rental
      if ((rental.step !== 'waiting' && rental.step !== 'late') || rental.instance === undefined) continue
      if (rental.unwanted || isBusy(id)) continue
      const instance = instances[rental.instance]
      if (!instance && pollsMissing(rental.instance) < pollsUntilGone) continue
      // So that a clock that was set back does not postpone the deadline.
      if ((rental.createdAt ?? 0) > context.now() + uncertainty)
        void rentals.update(id, { createdAt: context.now() })
      const { step, problem } = nextRentalStep(rental, instance, context.now())
      if (step === rental.step && isDeepEqual(problem, rental.problem)) continue
      if (step === 'failed') void endRental(parts, id, step, problem)
      else void rentals.update(id, { step, problem })
    }
  }
}
