import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Departure, Leave } from './record.ts'

/** Seconds of training for which a machine is kept: fewer are trained again before they would be copied. */
const leastSeconds = 60
/**
 * Seconds for a copy of a machine's files to the next one, which is paid meanwhile: as many as it may save, within these. The
 * service makes at least two copies one after another, each of which may take minutes.
 */
const copyWithin = { least: 600, most: 1800 }

/** Seconds of training that a copy has saved; `isUpTo` where the command may not be able to go on from all that came. */
export interface Saved {
  seconds: number
  isUpTo: boolean
}

export type DepartureMove =
  | { do: 'wait' }
  /** So that it can't run again beside the next machine. */
  | { do: 'stop' }
  /** `isLost`: its time is over, and nobody has its files. */
  | { do: 'destroy'; isLost: boolean }
  | { do: 'forget' }

/** Seconds for which one that is gone is remembered, since it may be listed again. */
const remembered = 7 * 86_400

/** Whether a machine has something that is worth keeping it for. `isThere`: one that polls lack may have run on unseen. */
export function isWorthKeeping({ seconds, paths, folder, runsUntil }: Leave, isThere = true): boolean {
  const mayBeMuch = seconds >= leastSeconds || runsUntil !== undefined || !isThere
  return mayBeMuch && paths.length > 0 && folder !== undefined
}

/** A machine that was gone, as a poll lists it again: it's kept as if its run had left it now, with what it did meanwhile. */
export function returnedDeparture(departure: Departure, { state }: InstanceView, now: number): Departure {
  const away = Math.max(0, now - departure.since)
  const { missing: _, runsUntil: __, ...rest } = departure
  const seconds = departure.seconds + (state === 'running' ? away : 0)
  return { ...rest, seconds, since: now, until: departure.until + away }
}

/** The next move for a machine that a run left. `instance`: `gone` once that is certain. Each may be repeated after a kill. */
export function departureMove(
  { fate, since, until, runsUntil = 0 }: Departure,
  instance: InstanceView | 'gone' | undefined,
  now: number,
): DepartureMove {
  if (instance === 'gone') return { do: now - since > remembered ? 'forget' : 'wait' }
  if (instance === undefined) return { do: 'wait' }
  // Its user started it since: then it's theirs.
  if (instance.stateRequest?.state === 'running' && instance.stateRequest.at > since) return { do: 'forget' }
  if (fate === 'brought' || fate === 'needless') return { do: 'destroy', isLost: false }
  if (now >= until) return { do: 'destroy', isLost: true }
  if (fate === undefined && now < runsUntil && instance.state === 'running') return { do: 'wait' }
  // One that crashed is still meant to run.
  const rests = hasTrait(instance.state, 'over') && !hasTrait(instance.state, 'dead')
  return rests ? { do: 'wait' } : { do: 'stop' }
}

/** Until when its files are copied, in epoch seconds; undefined where they aren't. */
export function copyUntil({ fate, seconds, copyingSince }: Departure, now: number): number | undefined {
  if (fate !== undefined) return undefined
  const within = Math.min(copyWithin.most, Math.max(copyWithin.least, seconds))
  return (copyingSince ?? now) + within
}
