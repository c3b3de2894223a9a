import { duration } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import type { Alert } from '../notifications/alert.ts'
import { commandFailure, instanceGone, watchdogOrder } from './decide.ts'
import type { Run } from './model.ts'

/** One id per run, so that a later alert replaces the earlier one. */
export function alertId(account: AccountId, { id }: Run): string {
  return `${account}/run/${id}`
}

/** The common fields of a run's alerts. */
function about(account: AccountId, run: Run): Omit<Alert, 'title' | 'body' | 'urgency'> {
  const { instance } = run
  return {
    id: alertId(account, run),
    kind: 'run',
    instance,
    actions: [{ id: 'show', label: 'Show' }],
    place: {
      screen: 'instances',
      ...(instance === undefined ? {} : { instance, tab: 'automation' as const }),
    },
  }
}

/** The alert for a run whose command ended. `isSpared`: its instance was to be destroyed, had the command not failed. */
export function endedAlert(
  account: AccountId,
  run: Run,
  { where, isSpared }: { where: string; isSpared: boolean },
): Alert {
  const { name, code } = run
  const failed = commandFailure(run) !== undefined
  return {
    ...about(account, run),
    title: failed ? `${name} failed with exit code ${code}` : `${name} has ended with exit code ${code}`,
    body: [`On ${where}.`, comesNext(run), isSpared ? 'Its files stay until you destroy the instance.' : '']
      .filter(Boolean)
      .join(' '),
    urgency: failed ? 'critical' : 'normal',
    ...(!failed && { good: true }),
  }
}

/** The alert for a run whose instance was not rented. */
export function notStartedAlert(account: AccountId, run: Run): Alert {
  return {
    ...about(account, run),
    title: `${run.name} will not start`,
    body: run.problem?.message ?? '',
    urgency: 'critical',
  }
}

export function stuckAlert(account: AccountId, run: Run, where: string, now: number): Alert {
  const since = duration(now - (run.stuckSince ?? now))
  const signs = run.loadUnread
    ? `no output for ${since}, and its GPU load can’t be read`
    : `no output and no load on the GPUs for ${since}`
  return {
    ...about(account, run),
    title: `${run.name} seems stuck`,
    body: `On ${where}: ${signs}. ${run.afterwardsIfStuck ? comesNext(run) : 'It is left as it is.'}`,
    urgency: 'normal',
  }
}

/** The alert for a run that failed; `run` as it is since. */
export function runFailedAlert(account: AccountId, run: Run, where: string): Alert {
  const { problem, step } = run
  const next =
    step === 'acting'
      ? 'Now the instance is stopped; its files stay.'
      : problem?.code === instanceGone.code || run.job !== undefined
        ? ''
        : 'The instance is left as it is.'
  return {
    ...about(account, run),
    title: `${run.name} has failed`,
    body: [`On ${where}: ${problem?.message ?? ''}`, problem?.advice, next].filter(Boolean).join(' '),
    urgency: 'critical',
  }
}

/** The alert for a run that cannot be started or followed for a while, though SSH works. */
export function hinderedAlert(
  account: AccountId,
  run: Run,
  where: string,
  { message, advice }: Problem,
): Alert {
  const what = run.step === 'starting' ? 'can’t be started yet' : 'can’t be followed now'
  return {
    ...about(account, run),
    title: `${run.name} ${what}`,
    body: [`On ${where}: ${message}`, advice, 'Berth keeps trying.'].filter(Boolean).join(' '),
    urgency: 'critical',
  }
}

/** The alert for a folder that could not be downloaded for a while, since the instance cannot be reached. */
export function unreachedAlert(account: AccountId, run: Run, where: string, why: string): Alert {
  const stops = watchdogOrder(run)
  const meanwhile = stops
    ? `Its watchdog stops it ${duration(stops.seconds)} after the end of the run; its files stay, and are fetched once it runs again.`
    : 'Until then the instance keeps running and costing money.'
  return {
    ...about(account, run),
    title: `${run.fetch} of ${run.name} cannot be fetched yet`,
    body: `On ${where}. ${why} Berth keeps trying. ${meanwhile}`,
    urgency: 'critical',
  }
}

export function notDestroyedAlert(account: AccountId, run: Run, where: string, why: string): Alert {
  return {
    ...about(account, run),
    title: `${where} is kept: ${run.fetch} could not be fetched`,
    body: `${why} ${run.afterwards === 'nothing' ? '' : 'It keeps costing money. '}Try again, or end it yourself.`,
    urgency: 'critical',
  }
}

/** What happens now; empty for the run of a job, which decides that itself. */
function comesNext({ fetch, afterwards, interrupted, job }: Run): string {
  if (job !== undefined) return ''
  if (interrupted) return 'It was stopped in the meantime, so it’s left as it is.'
  const steps = [
    ...(fetch === undefined ? [] : [`${fetch} is fetched`]),
    ...(afterwards === 'nothing'
      ? []
      : [afterwards === 'stop' ? 'the instance is stopped' : 'the instance is destroyed']),
  ]
  return steps.length === 0 ? 'The instance is left as it is.' : `Now ${steps.join(', then ')}.`
}
