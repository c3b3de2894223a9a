import type { RentalStop } from '#contract/automation/limit-kinds.ts'
import { figure } from '#contract/format/size.ts'
import { duration } from '#contract/format/time.ts'

export type StopKind = RentalStop['kind']
export type StopOf<Kind extends StopKind> = Extract<RentalStop, { kind: Kind }>

/** The stop conditions that a rental offers, with their default figures. */
export const usualStops: { readonly [Kind in StopKind]: StopOf<Kind> } = {
  idle: { kind: 'idle', below: 5, seconds: 1800 },
  duration: { kind: 'duration', seconds: 8 * 3600 },
  cost: { kind: 'cost', dollars: 20 },
}

export const stopKinds: readonly StopKind[] = ['idle', 'duration', 'cost']

/** The chosen condition of a kind. */
export function stopOf(stops: readonly RentalStop[], kind: StopKind): RentalStop | undefined {
  return stops.find(stop => stop.kind === kind)
}

/** The chosen conditions in their order, with the one of that kind replaced, or removed without `stop`. */
export function withStop(stops: readonly RentalStop[], kind: StopKind, stop: RentalStop | undefined) {
  return stopKinds.flatMap(each => (each === kind ? (stop ?? []) : (stopOf(stops, each) ?? [])))
}

/** `30 min idle`, `8 h`, `$20`. */
export function stopWords(stop: RentalStop): string {
  if (stop.kind === 'cost') return `$${figure(stop.dollars, 2)}`
  return stop.kind === 'idle' ? `${duration(stop.seconds)} idle` : duration(stop.seconds)
}

/** The full sentence: `Stops once the GPU load was below 5 % for 30 min` */
export function stopSentence(stop: RentalStop): string {
  return stopFrom(stop, 'after it was rented')
}

/** The same; `from` says what a time is counted from. */
export function stopFrom(stop: RentalStop, from: string): string {
  if (stop.kind === 'cost') return `Stops once it has cost ${stopWords(stop)}`
  if (stop.kind === 'duration') return `Stops ${stopWords(stop)} ${from}`
  return `Stops when GPU load stays below ${stop.below} % for ${duration(stop.seconds)}`
}
