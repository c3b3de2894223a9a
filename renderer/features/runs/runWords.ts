import type { Shape } from '#renderer/bridge/stateWords.ts'
import {
  isGoing,
  isProjectRun,
  isStopped,
  isStoppedAtLimit,
  isYetToEnd,
  movesWords,
  type ProjectRunView,
  type RunStep,
  type RunView,
} from '#shared/automation/run.ts'
import { isBeforeRenting } from '#shared/automation/waiting.ts'
import { money } from '#shared/format/money.ts'
import { named } from '#shared/format/name.ts'
import { bytes, count, counted, speed } from '#shared/format/size.ts'
import { duration } from '#shared/format/time.ts'
import type { SyncProgress } from '#shared/instance/sync.ts'
import { exitCodeWords } from '#shared/project/retry.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'

/** The steps of a project's run, in their order. */
export const runSteps = [
  { step: 'waiting', name: 'Renting' },
  { step: 'sending', name: 'Sending' },
  { step: 'setup', name: 'Set-up' },
  { step: 'running', name: 'Running' },
  { step: 'fetching', name: 'Downloading' },
  { step: 'ending', name: 'Ending' },
] as const satisfies readonly { step: RunStep; name: string }[]

/** The state of a run as a word and an icon; of a command also what becomes of its instance. */
export function runState(run: RunView): { word: string; shape: Shape } {
  const { step, failedAt, code, finalAction, instance, stuckSince, startedAt } = run
  const isProject = isProjectRun(run)
  if (step === 'failed' && isStoppedAtLimit(run.problem))
    return { word: 'Stopped at its limit', shape: 'needs-you' }
  const name = (of: RunStep) => runSteps.find(one => one.step === of)?.name ?? of
  // A failed run's machine is still being stopped.
  if (step === 'failed' || (isProject && step === 'ending' && failedAt !== undefined)) {
    const isKept = !isProject && failedAt === 'fetching' && finalAction === undefined
    if (isKept) return { word: `${endedWith(code)}, instance kept`, shape: 'needs-you' }
    if (code && failedAt === 'running')
      return { word: `Failed with ${exitCodeWords(code)}`, shape: 'needs-you' }
    if (isProject && isStopped(run))
      return { word: `Stopped: ${name(failedAt ?? 'waiting')}`, shape: 'needs-you' }
    return { word: isProject ? `Failed: ${name(failedAt ?? 'waiting')}` : 'Failed', shape: 'needs-you' }
  }
  switch (step) {
    case 'done':
      if (isProject && !code) return { word: 'Done', shape: 'running' }
      if (!isProject && instance === undefined) return { word: 'Not run', shape: 'stopped' }
      return { word: endedWith(code), shape: code ? 'broken' : 'running' }
    case 'cancelled':
      return { word: isProject || instance !== undefined ? 'Cancelled' : 'Not run', shape: 'stopped' }
    case 'running':
      if (stuckSince !== undefined) return { word: 'Seems stuck', shape: 'running' }
      return isProject || startedAt !== undefined
        ? { word: 'Running', shape: 'running' }
        : { word: 'Starting', shape: 'busy' }
    case 'waiting':
      if (isBeforeRenting(run)) return { word: 'Waiting', shape: 'busy' }
      return { word: isProject ? name(step) : 'Waiting for its instance', shape: 'busy' }
    case 'fetching':
      return { word: isProject ? name(step) : `${endedWith(code)}, fetching`, shape: 'busy' }
    case 'ending':
      return {
        word: isProject
          ? name(step)
          : `${endedWith(code)}, ${run.afterwards === 'destroy' ? 'destroying' : 'stopping'} the instance`,
        shape: 'busy',
      }
    default:
      return { word: name(step), shape: 'busy' }
  }
}

function endedWith(code: number | undefined): string {
  return code === undefined ? 'Ended' : `Ended with ${exitCodeWords(code)}`
}

/** The next step of a run, or the last one; `now` in epoch seconds of the account's time. */
export function nextStepWords(run: RunView, now: number): string {
  const { step, fetch, into, fetched, finalAction, interrupted, startedAt, endedAt, stuckSince, loadUnread } =
    run
  const isFailed = step === 'failed' && run.failedAt !== 'fetching'
  const parts: string[] = []
  if (startedAt !== undefined)
    parts.push(`${endedAt === undefined ? 'for' : 'took'} ${duration((endedAt ?? now) - startedAt)}`)
  if (stuckSince !== undefined && step === 'running')
    parts.push(
      loadUnread
        ? `no output for ${duration(now - stuckSince)}, and its GPU load can’t be read`
        : `no output and no GPU load for ${duration(now - stuckSince)}`,
    )
  if (fetched && fetch !== undefined) parts.push(`${fetch} is in ${into}`)
  else if ((step === 'done' || isFailed) && fetch !== undefined) parts.push(`${fetch} wasn’t downloaded`)
  if (finalAction) parts.push(`the instance was ${finalAction === 'stop' ? 'stopped' : 'destroyed'}`)
  else if (interrupted) parts.push('the instance had already been stopped')
  else if (step === 'fetching' || step === 'ending' || isYetToEnd(run)) parts.push(afterwardsBriefly(run))
  else if (step === 'done' && run.afterwards !== 'nothing') parts.push('the instance kept running')
  return parts.join('; ')
}

function afterwardsBriefly(run: RunView): string {
  const { afterwards, fetch, watchdog } = run
  const steps = [
    ...(fetch === undefined || run.fetched ? [] : [`download ${fetch}`]),
    ...(afterwards === 'nothing'
      ? []
      : [`${afterwards} the instance${watchdog ? ', by its watchdog while this computer sleeps' : ''}`]),
  ]
  const when = isYetToEnd(run) ? 'once it has ended' : 'next'
  return steps.length === 0 ? 'afterwards the instance keeps running' : `${when}: ${steps.join(', then ')}`
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
      ? 'Berth tries again as soon as it can'
      : nextTryAt > now
        ? `next try in ${duration(nextTryAt - now)}`
        : 'trying now'
  const stops = watchdog && afterwards !== 'nothing'
  const meanwhile = stops
    ? ' Its watchdog stops it 15 min after the end, which keeps its files.'
    : ' The instance keeps running, and you pay for it.'
  return `${fetch} can’t be downloaded: no connection for ${duration(now - since)}; ${next}.${watchdogStale ? '' : meanwhile}`
}

/** The watchdog's pending instruction, while it still follows an older one. */
export function watchdogStaleWords(run: RunView): string {
  const { afterwards, fetch } = run
  const goes = isGoing(run) && afterwards !== 'nothing' && !run.interrupted
  const holds = goes
    ? `to ${fetch === undefined ? afterwards : 'stop'} the instance`
    : 'to leave the instance running'
  return `Its watchdog still follows an older instruction. Berth will tell it ${holds} as soon as it can connect.`
}

/** How much of the output Berth has. */
export function storedOutputWords({ outputBytes, droppedBytes, finalAction }: RunView): string {
  if (droppedBytes === 0) return `${bytes(outputBytes)} of output, all stored here`
  const lost = droppedBytes < outputBytes ? `the first ${bytes(droppedBytes)} are` : 'it is'
  return `${bytes(outputBytes)} of output; ${lost} ${finalAction === 'destroy' ? 'no longer stored' : 'only on the instance'}`
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

/** `$0.12 so far, at most $4.20`. */
export function runCostWords(cost: Micros, most: Micros | undefined, going: boolean): string {
  if (!going) return money(cost)
  return `${money(cost)} so far${most === undefined ? '' : `, at most ${money(most)}`}`
}

/** `1a2b3c4 of main, 2 files changed since`. */
export function commitWords({ id, branch, changed }: NonNullable<ProjectRunView['commit']>): string {
  const since = changed && changed.files > 0 ? `, ${counted(changed.files, 'file')} changed since` : ''
  return `${id.slice(0, 7)}${branch === undefined ? '' : ` of ${branch}`}${since}`
}

/** The full commit id, and the files that had changed since. */
export function commitTitle({ id, changed }: NonNullable<ProjectRunView['commit']>): string {
  if (!changed || changed.files === 0) return id
  const unnamed = changed.files - changed.named.length
  const more = unnamed > 0 ? ` and ${unnamed} more` : ''
  return `${id}; changed since: ${changed.named.join(', ')}${more}`
}

/** `It’s destroyed in 23 h.`, for the machine of a failed run. `now` in epoch seconds. */
export function keptUntilWords({ keptUntil, most }: ProjectRunView, now: number): string {
  if (!keptUntil) return ''
  const left = duration(Math.max(0, keptUntil.at - now))
  if (keptUntil.destroys) return `It’s destroyed in ${left}, as you chose.`
  const end = most === undefined ? '' : ` Once the run has cost ${money(most)}, it’s destroyed.`
  return `You’re reminded in ${left}.${end}`
}

/** The result of a project's run that has ended. */
export function projectEndWords(run: ProjectRunView): string {
  const { step, downloadResult, startedAt, endedAt } = run
  const took = startedAt === undefined || endedAt === undefined ? '' : `Took ${duration(endedAt - startedAt)}`
  const files = downloadResult && `${counted(downloadResult.files, 'file')} downloaded`
  const facts = [took, step === 'cancelled' ? 'nothing was downloaded' : files, movesWords(run)].filter(
    Boolean,
  )
  const words = facts.join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The results stored under another name, since the local files had changed, too. */
export function besideWords({ beside }: NonNullable<RunView['downloadResult']>): string | undefined {
  if (beside.length === 0) return undefined
  return `${
    beside.length === 1 ? 'A file' : `${count(beside.length)} files`
  } had changed here too; the downloaded ${beside.length === 1 ? 'one is' : 'ones are'} saved as ${named(beside, { most: 5 })}.`
}

/** The cost of a project's run up to a moment of the account's time, in epoch seconds. */
export function runCost({ cost }: Pick<ProjectRunView, 'cost'>, at: number): Micros {
  return cost.micros + Math.floor((Math.max(0, at - cost.at) * cost.perHour) / 3600)
}

/** A project's runs, the newest first. */
export function runsOfProject(runs: Readonly<Record<string, RunView>>, project: string): ProjectRunView[] {
  return Object.values(runs)
    .filter(isProjectRun)
    .filter(run => run.project === project)
    .sort((a, b) => b.createdAt - a.createdAt)
}

/** The machines that wait for a project's next run, and for how many more seconds. `now`: the account's time. */
export function waitingFor({ waiting, instances }: AccountView, project: string, now: number) {
  return Object.values(waiting).flatMap(one => {
    const instance = one.project === project && instances[one.instance]
    return instance ? [{ ...one, instance, left: Math.max(0, one.until - now) }] : []
  })
}

/** The runs of an instance, the commands that wait for it included, the newest first. */
export function runsOf({ runs, rentals }: AccountView, instance: number): RunView[] {
  const awaited = ({ rental }: RunView) => rentals[rental ?? '']?.instance
  return Object.values(runs)
    .filter(run => (run.instance ?? (isProjectRun(run) ? undefined : awaited(run))) === instance)
    .sort((a, b) => b.createdAt - a.createdAt)
}
