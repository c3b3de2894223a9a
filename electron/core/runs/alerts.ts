import { isStoppedAtLimit } from '#shared/automation/run.ts'
import { money, rate } from '#shared/format/money.ts'
import { named, shortInstanceName } from '#shared/format/name.ts'
import { atMoment, duration } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { resultsOf } from '#shared/project/bounds.ts'
import { exitCodeWords, isKilled } from '#shared/project/retry.ts'
import { checkpointEvery } from '#shared/project/store.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { tellerOf } from '../alerts/notifications.ts'
import { watchdogOrder } from './decide.ts'
import { machineGone } from './messages.ts'
import { keepingFor, mostInAll, type ProjectRun, type Run, runCostBy } from './model.ts'

export type RunAlerts = ReturnType<typeof runAlertsOf>

/** Alerts and Activity entries of an account's runs. */
export function runAlertsOf(
  context: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>,
) {
  const { account, store } = context
  const teller = tellerOf(context)
  const note = ({ instance }: Run, text: string, detail?: string) =>
    teller.note('berth', text, detail, instance)
  return {
    note,
    /** Alerts about a command; of a project, which has its own alerts, it's only an Activity entry. */
    tell(run: Run, alert: Alert): void {
      if (run.project) note(run, alert.title, alert.body)
      else teller.alert(alert)
    },
    /** An alert about a project's run while it goes on. */
    warn: (alert: Alert): void => teller.alert(alert),
    withdraw: (run: Run): void => teller.withdraw(alertId(account, run)),
    /** The name of the run's instance. */
    nameOf: ({ instance = 0 }: Run): string =>
      shortInstanceName(store.get().accounts[account]?.instances[instance] ?? { id: instance }),
  }
}

/** One id per run, so that a later alert replaces the earlier one. */
export function alertId(account: AccountId, { id }: Run): string {
  return `${account}/run/${id}`
}

/** The common fields of a run's alerts. */
function about(account: AccountId, run: Run) {
  const { instance, project } = run
  return {
    id: alertId(account, run),
    instance,
    place: project ? ({ screen: 'projects', project: project.id } as const) : undefined,
  }
}

/** The alert for a run whose command ended. `isSpared`: its instance was to be destroyed, had the command not failed. */
export function endedAlert(
  account: AccountId,
  run: Run,
  { where, isSpared }: { where: string; isSpared: boolean },
): Alert {
  const { name, code } = run
  const failed = run.outcome !== undefined
  return alertOf(failed ? 'runFailed' : 'runDone', {
    ...about(account, run),
    title: `${name} ${failed ? 'failed' : 'ended'} with ${exitCodeWords(code ?? 0)}`,
    body: [`On ${where}.`, comesNext(run), isSpared ? 'Its files stay until you destroy the instance.' : '']
      .filter(Boolean)
      .join(' '),
  })
}

/** The alert for a run whose instance was not rented. */
export function notStartedAlert(account: AccountId, run: Run): Alert {
  return alertOf('runFailed', {
    ...about(account, run),
    title: `${run.name} will not start`,
    body: run.problem?.message ?? '',
  })
}

export function stuckAlert(account: AccountId, run: Run, where: string, now: number): Alert {
  const since = duration(now - (run.stuckSince ?? now))
  const signs = run.loadUnread
    ? `no output for ${since}, and its GPU load can’t be read`
    : `no output and no GPU load for ${since}`
  return alertOf('runStuck', {
    ...about(account, run),
    title: `${run.name} seems stuck`,
    body: `On ${where}: ${signs}. ${run.afterwardsIfStuck ? comesNext(run) : 'The instance keeps running.'}`,
  })
}

/** The alert for a command that failed; `run` as it is since. */
export function commandFailedAlert(account: AccountId, run: Run, where: string): Alert {
  const { problem, step } = run
  const next =
    step === 'ending'
      ? 'Now the instance is stopped; its files stay.'
      : problem?.code === machineGone.code
        ? ''
        : 'The instance is left as it is.'
  return alertOf('runFailed', {
    ...about(account, run),
    title: `${run.name} has failed`,
    body: [`On ${where}: ${problem?.message ?? ''}`, problem?.advice, next].filter(Boolean).join(' '),
  })
}

/** The alert for a run that cannot be started or followed for a while, though SSH works. */
export function hinderedAlert(
  account: AccountId,
  run: Run,
  where: string,
  { message, advice }: Problem,
): Alert {
  const what = !run.begun ? 'can’t be started yet' : 'can’t be followed now'
  return alertOf('runHindered', {
    ...about(account, run),
    title: `${run.name} ${what}`,
    body: [`On ${where}: ${message}`, advice, 'Berth keeps trying.'].filter(Boolean).join(' '),
  })
}

/** The alert for a run without a whole checkpoint for a while. `seconds`: of training that only its machine has. */
export function overdueAlert(
  account: AccountId,
  run: ProjectRun,
  { seconds, where, why }: { seconds: number; where: string; why: Problem | undefined },
): Alert {
  const { spec } = run.project
  const causes = 'Its files may change all the time, or the line is too slow for them.'
  return alertOf('runHindered', {
    ...about(account, run),
    title: titled(run, `has no checkpoint for ${duration(seconds)}`),
    body:
      `On ${where}: one is wanted every ${duration(checkpointEvery(spec) ?? 0)}. ` +
      `${why?.message ?? causes} If the machine ends now, that training is lost.`,
  })
}

/** The alert for a folder that could not be downloaded for a while, since the instance cannot be reached. */
export function unreachedAlert(account: AccountId, run: Run, where: string, why: string): Alert {
  const stops = watchdogOrder(run)
  const meanwhile = stops
    ? `Its watchdog stops it ${duration(stops.seconds)} after the end of the run; its files stay, and are downloaded once it runs again.`
    : 'Until then the instance keeps running, and you keep paying.'
  return alertOf('runHindered', {
    ...about(account, run),
    title: `${run.fetch} of ${run.name} can’t be downloaded yet`,
    body: `On ${where}. ${why} Berth keeps trying. ${meanwhile}`,
  })
}

export function notDestroyedAlert(account: AccountId, run: Run, where: string, why: string): Alert {
  const costs = run.afterwards === 'nothing' ? '' : 'You keep paying for it. '
  return alertOf('runFailed', {
    ...about(account, run),
    title: `${where} is kept: ${run.fetch} couldn’t be downloaded`,
    body: `${why} ${costs}Try again, or ${run.afterwards === 'stop' ? 'stop' : 'destroy'} it yourself.`,
  })
}

/** The next step; empty for a project, which has its own later alerts. */
function comesNext({ fetch, afterwards, interrupted, project }: Run): string {
  if (project) return ''
  if (interrupted) return 'It was stopped in the meantime, so it’s left as it is.'
  const steps = [
    ...(fetch === undefined ? [] : [`${fetch} is downloaded`]),
    ...(afterwards === 'nothing'
      ? []
      : [afterwards === 'stop' ? 'the instance is stopped' : 'the instance is destroyed']),
  ]
  return steps.length === 0 ? 'The instance is left as it is.' : `Now ${steps.join(', then ')}.`
}

/** `cost`: of all its machines, micro-dollars. */
export function projectDoneAlert(account: AccountId, run: ProjectRun, cost: Micros): Alert {
  const { code = 0, downloadResult } = run
  const files = downloadResult?.files
    ? ` ${downloadResult.files === 1 ? '1 file was' : `${downloadResult.files} files were`} downloaded.`
    : ''
  return alertOf(code === 0 ? 'runDone' : 'runEnded', {
    ...about(account, run),
    title: titled(run, code === 0 ? 'is done' : `ended with ${exitCodeWords(code)}`),
    body: `It cost ${money(cost)}.${files}`,
  })
}

/** `view`: the run's machine, which is stopped now. */
export function projectFailedAlert(
  account: AccountId,
  run: ProjectRun,
  view: InstanceView | undefined,
): Alert {
  return alertOf('runFailed', {
    ...about(account, run),
    title: titled(run, failedWords(run)),
    body: [run.problem?.message, run.problem?.advice, diskWords(view)].filter(Boolean).join(' '),
  })
}

function failedWords({ code, problem }: Run): string {
  if (isStoppedAtLimit(problem)) return 'was stopped at its limit'
  return isKilled(code) ? 'was killed' : 'failed'
}

/** The alert once a machine was stopped for the agreed time, or its run has cost all that it may. */
export function keptAlert(
  account: AccountId,
  run: ProjectRun,
  {
    destroyed,
    isSpent,
    view,
    now,
  }: { destroyed: boolean; isSpent: true | undefined; view: InstanceView | undefined; now: number },
): Alert {
  const most = mostInAll(run)
  const cost = `It cost ${money(runCostBy(run, now))}${destroyed ? '' : ' so far'}.`
  const why = pastKeepWords(run, isSpent, now)
  const atCost =
    run.step === 'failed' && most !== undefined && !run.sweep ? ` It’s destroyed at ${money(most)}.` : ''
  const ends = run.lastCall === undefined ? atCost : ` ${why} It’s destroyed ${atMoment(run.lastCall, now)}.`
  return alertOf(destroyed ? 'machineDestroyed' : 'machineKept', {
    ...about(account, run),
    title: titled(run, destroyed ? 'failed, and its machine is destroyed' : 'still has a machine'),
    body: destroyed
      ? `${why}${missingWords(run)}`
      : `${diskWords(view) || 'Its machine is kept.'} ${cost}${ends}${missingWords(run)} ${
          run.step === 'done'
            ? 'Destroy the machine if you don’t need it.'
            : 'Resume the run, or destroy the machine.'
        }`,
  })
}

/** Why the machine of a run that failed is kept no longer. `isSpent`: for its cost, else for its time. */
export function pastKeepWords(run: ProjectRun, isSpent: true | undefined, now: number): string {
  const cost = money(runCostBy(run, now))
  if (!isSpent)
    return `Its machine was kept for ${duration(keepingFor(run).seconds)}, as you chose. It cost ${cost}.`
  if (run.sweep) return `The sweep has cost what it may. Of that, this run cost ${cost}.`
  const most = mostInAll(run)
  return most === undefined || run.node
    ? `The run has cost what it may.`
    : `The run has cost what it may, ${money(most)}.`
}

/** Which results are only on its machine. */
function missingWords({ project, fetched, step }: ProjectRun): string {
  const results = resultsOf(project.spec)
  if (results.length === 0 || fetched || step === 'done') return ''
  return ` Not downloaded: ${named(results)}.`
}

function diskWords(view: InstanceView | undefined): string {
  const { diskPricePerHour } = view ?? {}
  return diskPricePerHour === undefined ? '' : `While it’s stopped, its disk costs ${rate(diskPricePerHour)}.`
}

/** A title of at most 50 characters. */
export function titled({ name }: { name: string }, words: string): string {
  const room = 49 - words.length
  return `${name.length > room ? `${name.slice(0, room - 1)}…` : name} ${words}`
}

/** Why its instance can't be ended yet. */
export function otherRun({ name }: Run, afterwards: 'stop' | 'destroy'): Problem {
  const done = afterwards === 'stop' ? 'stopped' : 'destroyed'
  return {
    code: 'other_run',
    message: `${name} is still running there: the instance is ${done} after that.`,
  }
}
