import { isGoing, type RunView } from '#contract/automation/run.ts'
import { bytes, count, speed } from '#contract/format/size.ts'
import { duration } from '#contract/format/time.ts'
import type { SyncProgress } from '#contract/instance/sync.ts'

/** A run's state in a few words. */
export function stepWords({ step, code, stuckSince, instance }: RunView): string {
  switch (step) {
    case 'waiting':
      return 'Waits for its instance'
    case 'starting':
      return 'Starting'
    case 'running':
      return stuckSince === undefined ? 'Running' : 'Seems stuck'
    case 'fetching':
      return `${endedWith(code)}, fetching`
    case 'acting':
      return `${endedWith(code)}, ending the instance`
    case 'kept':
      return `${endedWith(code)}, instance kept`
    case 'over':
      return instance === undefined ? 'Not run' : endedWith(code)
    case 'failed':
      return code ? `Failed with exit code ${code}` : 'Failed'
  }
}

function endedWith(code: number | undefined): string {
  return code === undefined ? 'Ended' : `Ended with exit code ${code}`
}

/** The next step of a run, or the last one; `now` in epoch seconds of the account's time. */
export function nextWords(run: RunView, now: number): string {
  const { step, fetch, into, fetched, acted, interrupted, startedAt, endedAt, stuckSince, loadUnread } = run
  const parts: string[] = []
  if (startedAt !== undefined)
    parts.push(`${endedAt === undefined ? 'for' : 'took'} ${duration((endedAt ?? now) - startedAt)}`)
  if (stuckSince !== undefined && step === 'running')
    parts.push(
      loadUnread
        ? `no output for ${duration(now - stuckSince)}, and its GPU load can’t be read`
        : `no output and no GPU load for ${duration(now - stuckSince)}`,
    )
  if (fetched) parts.push(`${fetch} is in ${into}`)
  else if ((step === 'over' || step === 'failed') && fetch !== undefined)
    parts.push(`${fetch} was not fetched`)
  if (acted) parts.push(`the instance was ${acted === 'stop' ? 'stopped' : 'destroyed'}`)
  else if (interrupted) parts.push('the instance was stopped in the meantime, and is left as it is')
  else if (step === 'fetching' || step === 'acting' || isYetToEnd(run)) parts.push(afterwardsBriefly(run))
  else if (step === 'over' && run.afterwards !== 'nothing') parts.push('the instance was left as it is')
  return parts.join('; ')
}

/** Whether a run's command is not known to have ended. */
export function isYetToEnd({ step }: RunView): boolean {
  return step === 'waiting' || step === 'starting' || step === 'running'
}

function afterwardsBriefly(run: RunView): string {
  const { afterwards, fetch, watchdog } = run
  const steps = [
    ...(fetch === undefined || run.fetched ? [] : [`fetch ${fetch}`]),
    ...(afterwards === 'nothing'
      ? []
      : [`${afterwards} the instance${watchdog ? ', by its watchdog while this computer sleeps' : ''}`]),
  ]
  const when = isYetToEnd(run) ? 'once it has ended' : 'next'
  return steps.length === 0 ? 'afterwards nothing is done' : `${when}: ${steps.join(', then ')}`
}

/**
 * Why its folder is not here yet, when that is tried again, and what holds meanwhile, unless its watchdog goes by
 * something else; `now` in epoch seconds of the account's time.
 */
export function unreachedWords(
  { fetch, unreached, watchdog, afterwards, watchdogStale }: RunView,
  now: number,
): string {
  const { since, nextTryAt } = unreached ?? { since: now }
  const next =
    nextTryAt === undefined
      ? 'it is tried again as soon as it can be'
      : nextTryAt > now
        ? `next try in ${duration(nextTryAt - now)}`
        : 'trying now'
  const stops = watchdog && afterwards !== 'nothing'
  const meanwhile = stops
    ? ' Its watchdog stops it 15 min after the end, which keeps its files.'
    : ' The instance is left as it is, and you pay for it.'
  return `${fetch} cannot be fetched yet, for ${duration(now - since)}: no connection; ${next}.${watchdogStale ? '' : meanwhile}`
}

/** What its watchdog may still do by what it was told before; `now` is what holds. */
export function watchdogStaleWords(run: RunView): string {
  const { afterwards, fetch } = run
  const goes = isGoing(run) && afterwards !== 'nothing' && !run.interrupted
  const holds = goes
    ? `to ${fetch === undefined ? afterwards : 'stop'} the instance`
    : 'that the instance is left as it is'
  return `Its watchdog has not heard yet ${goes ? 'that it is ' : ''}${holds}, and goes by what it was told before. Berth tells it as soon as it gets in.`
}

/** How much of the output Berth has. */
export function storedOutputWords({ seen, dropped, acted }: RunView): string {
  if (dropped === 0) return `${bytes(seen)} of output, all of it kept here`
  const lost = dropped < seen ? `the first ${bytes(dropped)} are` : 'it is'
  return `${bytes(seen)} of output; ${lost} ${acted === 'destroy' ? 'kept no more' : 'on the instance alone'}`
}

/** "12 MB of 64 MB, 3 of 10 files, 14 MB/s, 4 s left". */
export function syncWords({ total, done, files, filesDone, speed: rate, secondsLeft }: SyncProgress): string {
  return [
    done < total ? `${bytes(done)} of ${bytes(total)}` : bytes(total),
    files > 1 && `${count(filesDone)} of ${count(files)} files`,
    rate !== undefined && speed(rate),
    secondsLeft !== undefined && `${duration(Math.ceil(secondsLeft))} left`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** Whole percent, rounded down. */
export function syncPercent({ total, done }: SyncProgress): number {
  return total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100))
}
