import type { RunView } from '../../../../electron/contract/automation/run.ts'
import { bytes } from '../../../words/size.ts'
import { duration } from '../../../words/time.ts'

/** How a run is, in a few words. */
export function stepWords({ step, code, stuckSince }: RunView): string {
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
      return endedWith(code)
    case 'failed':
      return 'Failed'
  }
}

function endedWith(code: number | undefined): string {
  return code === undefined ? 'Ended' : `Ended with exit code ${code}`
}

/** What comes next, or what was done; `now` in epoch seconds of the account's time. */
export function nextWords(run: RunView, now: number): string {
  const { step, fetch, into, fetched, acted, interrupted, startedAt, endedAt, stuckSince } = run
  const parts: string[] = []
  if (startedAt !== undefined)
    parts.push(`${endedAt === undefined ? 'for' : 'took'} ${duration((endedAt ?? now) - startedAt)}`)
  if (stuckSince !== undefined && step === 'running')
    parts.push(`no output and no GPU load for ${duration(now - stuckSince)}`)
  if (fetched) parts.push(`${fetch} is in ${into}`)
  if (acted) parts.push(`the instance was ${acted === 'stop' ? 'stopped' : 'destroyed'}`)
  else if (interrupted) parts.push('the instance was stopped meanwhile, and is left as it is')
  else if (step === 'waiting' || step === 'starting' || step === 'running') parts.push(atItsEnd(run))
  return parts.join('; ')
}

function atItsEnd({ atEnd, fetch, watchdog }: RunView): string {
  const steps = [
    ...(fetch === undefined ? [] : [`fetch ${fetch}`]),
    ...(atEnd === 'nothing'
      ? []
      : [`${atEnd} the instance${watchdog ? ', by its watchdog while this computer sleeps' : ''}`]),
  ]
  return steps.length === 0 ? 'at its end nothing is done' : `at its end: ${steps.join(', then ')}`
}

/** How much of the output is here. */
export function keptWords({ seen, dropped }: RunView): string {
  if (dropped === 0) return `${bytes(seen)} of output, all of it kept here`
  return `${bytes(seen)} of output; the first ${bytes(dropped)} are on the instance alone`
}
