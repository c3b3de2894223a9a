import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'
import { attemptsAlert } from './alerts.ts'
import type { Attempt, AttemptSeries } from './model.ts'
import { nothingAsGoodCode } from './words.ts'

/** Reports the progress of a series of attempts. */
interface AttemptEvent {
  series: AttemptSeries
  text: string
  detail?: string
  problem?: Problem
  instance?: number
  /** Whether the user requested it. */
  asked?: boolean
  /** How the series ended, which is an alert. */
  end?: 'ready' | 'failed'
}

type NotifyContext = Pick<AccountContext, 'account' | 'activity' | 'notifications'>

/** Adds an event to Activity; an end is an alert, unless a recovery reports it. */
export function notifyOfAttempts(
  { account, activity, notifications }: NotifyContext,
  { series, text, detail, problem, instance, asked, end }: AttemptEvent,
): void {
  if (end && problem?.code !== nothingAsGoodCode) {
    notifications.tell(account, [attemptsAlert(account, series)])
    return
  }
  const { request, search } = series
  const what = request.label || search.filter.gpus?.join(', ') || request.image || request.template?.name
  activity.add({
    account,
    kind: end === 'failed' ? 'error' : asked ? 'user' : 'berth',
    text: what ? `${text}: ${what}` : text,
    detail: problem?.message ?? detail,
    instance,
    rental: series.id,
  })
}

/** Reports what changed in the attempts since `before`. */
export function notifyOfSteps(
  context: NotifyContext,
  series: AttemptSeries,
  before: readonly Attempt[],
): void {
  const { attempts, limits, request } = series
  for (const [index, { rental, instance, runningAt, drop }] of attempts.entries()) {
    const was = before.find(other => other.rental === rental)
    if (instance === undefined || drop) continue
    const say = (what: string) => {
      const text = `Attempt ${index + 1} of ${limits.attempts} ${what}`
      notifyOfAttempts(context, { series, text, instance })
    }
    if (was?.instance === undefined) say('is created, and boots')
    if (was?.runningAt === undefined && runningAt !== undefined)
      say(request.access === 'ssh' ? 'runs, and waits for SSH' : 'runs')
  }
}
