import type { RentalView } from '../../../contract/market/rental.ts'

/** `1 × RTX 4090 in Sweden, SE, machine 10012`. */
export function tryName({
  gpuName,
  gpuCount,
  location,
  machineId,
}: RentalView['offer'] & { machineId?: number }): string {
  const gpu = gpuName === undefined ? 'an offer' : `${gpuCount ?? 1} × ${gpuName}`
  const place = location === undefined ? '' : ` in ${location}`
  return `${gpu}${place}${machineId === undefined ? '' : `, machine ${machineId}`}`
}
