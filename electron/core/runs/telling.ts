import type { AccountId } from '../../contract/ids.ts'
import type { Alert } from '../alerts/alerts.ts'
import { hoursAndMinutes } from '../alerts/wording.ts'
import type { Run } from './run.ts'

/** What is said of a run; `where` names its instance. A later one takes the place of the earlier. */
function about(account: AccountId, { id, instance }: Run): Omit<Alert, 'title' | 'body' | 'urgency'> {
  return {
    id: `${account}/run/${id}`,
    kind: 'run',
    ...(instance === undefined ? {} : { instance }),
    actions: [{ id: 'show', label: 'Show' }],
    place: {
      screen: 'instances',
      ...(instance === undefined ? {} : { instance, tab: 'runs' as const }),
    },
  }
}

export function endedAlert(account: AccountId, run: Run, where: string): Alert {
  const { name, code } = run
  return {
    ...about(account, run),
    title: `${name} has ended with exit code ${code}`,
    body: `On ${where}. ${comesNext(run)}`,
    urgency: 'normal',
  }
}

export function stuckAlert(account: AccountId, run: Run, where: string, now: number): Alert {
  const since = hoursAndMinutes(now - (run.stuckSince ?? now))
  return {
    ...about(account, run),
    title: `${run.name} seems stuck`,
    body: `On ${where}: no output and no load on the GPUs for ${since}. ${run.stuckEnds ? comesNext(run) : 'It is left as it is.'}`,
    urgency: 'normal',
  }
}

export function lostAlert(account: AccountId, run: Run, where: string): Alert {
  return {
    ...about(account, run),
    title: `${run.name} is gone without an exit code`,
    body: `On ${where}: its process has gone, as when a container is restarted. The instance is left as it is.`,
    urgency: 'critical',
  }
}

export function keptAlert(account: AccountId, run: Run, where: string, why: string): Alert {
  return {
    ...about(account, run),
    title: `${where} is kept: ${run.fetch} could not be fetched`,
    body: `${why} ${run.atEnd === 'nothing' ? '' : 'It goes on costing. '}Try again, or end it yourself.`,
    urgency: 'critical',
  }
}

function comesNext({ fetch, atEnd, interrupted }: Run): string {
  if (interrupted) return 'It was stopped meanwhile, so it is left as it is now.'
  const steps = [
    ...(fetch === undefined ? [] : [`${fetch} is fetched`]),
    ...(atEnd === 'nothing'
      ? []
      : [atEnd === 'stop' ? 'the instance is stopped' : 'the instance is destroyed']),
  ]
  return steps.length === 0 ? 'The instance is left as it is.' : `Now ${steps.join(', then ')}.`
}
