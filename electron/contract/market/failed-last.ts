import type { FailedMachineView } from '../automation/failover.ts'
import type { ListedOffer } from './catalogue.ts'

/** The offers in the order given, those of machines on which a try came to nothing after all others. */
export function failedLast(
  offers: readonly ListedOffer[],
  failed: Readonly<Record<string, FailedMachineView>>,
): readonly ListedOffer[] {
  const failures = ({ offer }: ListedOffer) => failed[offer.machineId ?? '']?.times ?? 0
  if (Object.keys(failed).length === 0 || !offers.some(failures)) return offers
  return [...offers].sort((a, b) => failures(a) - failures(b))
}
