import type { RentalStop } from '../../../electron/contract/automation/guard-kinds.ts'
import { figure } from '../../../electron/contract/format/size.ts'
import { duration } from '../../../electron/contract/format/time.ts'

export type StopKind = RentalStop['kind']
export type StopOf<Kind extends StopKind> = Extract<RentalStop, { kind: Kind }>

/** What is offered to stop a rental, until other figures are chosen. */
export const usualStops: { readonly [Kind in StopKind]: StopOf<Kind> } = {
  idle: { kind: 'idle', below: 5, seconds: 1800 },
  duration: { kind: 'duration', seconds: 8 * 3600 },
  cost: { kind: 'cost', dollars: 20 },
}

export const stopKinds: readonly StopKind[] = ['idle', 'duration', 'cost']

/** The one of that kind, where it is chosen. */
export function stopOf(stops: readonly RentalStop[], kind: StopKind): RentalStop | undefined {
  return stops.find(stop => stop.kind === kind)
}

/** Chosen or not, in the order in which they are offered. */
export function withStop(stops: readonly RentalStop[], kind: StopKind, stop: RentalStop | undefined) {
  return stopKinds.flatMap(each => (each === kind ? (stop ?? []) : (stopOf(stops, each) ?? [])))
}

/** `30 min idle`, `8 h`, `$20`. */
export function stopWords(stop: RentalStop): string {
  if (stop.kind === 'cost') return `$${figure(stop.dollars, 2)}`
  return stop.kind === 'idle' ? `${duration(stop.seconds)} idle` : duration(stop.seconds)
}

/** What it is told as in full: `Stops once the GPU load was below 5 % for 30 min`. */
export function stopSentence(stop: RentalStop): string {
  if (stop.kind === 'cost') return `Stops once it has cost ${stopWords(stop)}`
  if (stop.kind === 'duration') return `Stops ${stopWords(stop)} after it was rented`
  return `Stops when GPU load stays below ${stop.below} % for ${duration(stop.seconds)}`
}
