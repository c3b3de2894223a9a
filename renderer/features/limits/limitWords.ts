import {
  actsIn,
  hasEnded,
  type LimitKind,
  type LimitStep,
  type LimitView,
  limitKinds,
  snoozes,
} from '#shared/automation/limit.ts'
import { sentence, watchdogReason } from '#shared/automation/limit-words.ts'
import { useWords } from '#shared/automation/use.ts'
import type { WatchdogView } from '#shared/automation/watchdog.ts'
import { knownSpent } from '#shared/derived.ts'
import { money } from '#shared/format/money.ts'
import { atMoment, duration, moment } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { costOf } from '#shared/spending/spend-words.ts'
import type { AccountView } from '#shared/state.ts'

const steps: Record<LimitStep, string> = {
  waiting: 'On',
  warned: 'Soon',
  held: 'Waiting to act',
  acting: 'Acting',
  done: 'Done',
  missed: 'Missed',
  over: 'Over',
  off: 'Off',
}

export function limitWord({ step, snoozedUntil }: Pick<LimitView, 'step' | 'snoozedUntil'>): string {
  return snoozedUntil !== undefined && step === 'waiting' ? 'Extended' : steps[step]
}

/** Whether a limit is about to act or is held back, which the instance's row shows. */
export function isNear({ step }: Pick<LimitView, 'step'>): boolean {
  return step === 'warned' || step === 'held' || step === 'acting'
}

/**
 * When a limit acts: `Stops at 18:00, in 2 h 5 min`, or why that is unknown. `hindered`: no limit can act now; then only its
 * moment is given, and none for an idle limit, whose instance is not watched.
 */
export function dueWords(
  limit: Pick<LimitView, 'dueAt' | 'step' | 'when' | 'snoozedUntil' | 'instance' | 'action' | 'used'>,
  now: number,
  { instances, creditAt }: Pick<AccountView, 'instances' | 'creditAt'>,
  hindered = false,
): string {
  const { dueAt, when } = limit
  const target = instances[limit.instance ?? '']
  if (hasEnded(limit)) return ''
  if (hindered && (dueAt === undefined || when.kind === 'idle')) return ''
  if (when.kind === 'away') return 'Active while Berth is away.'
  if (dueAt === undefined)
    return when.kind === 'idle' ? notIdle(instances[limit.instance ?? '']) : notDue(limit, instances)
  if (dueAt <= now) {
    const since = `Due since ${moment(dueAt, now)}`
    if (limit.step !== 'waiting' || hindered) return `${since}.`
    if (limitKinds[when.kind].on === 'account' && creditAt !== undefined)
      return `${since}; waiting for the credit.`
    const acts =
      limit.instance === undefined
        ? Object.values(instances).some(({ state }) => hasTrait(state, 'stoppable'))
        : target && actsIn(target.state, limit)
    return acts ? `${since}; it acts at the next poll.` : 'Reached, but no running instance to stop.'
  }
  const { isSure } = limitKinds[when.kind]
  const acts = limit.instance === undefined ? 'Acts' : limit.action === 'stop' ? 'Stops' : 'Destroys it'
  // The sentence of an instance's limit has a sure moment.
  const inWords = isSure && limit.instance !== undefined ? 'in' : `${atMoment(dueAt, now)}, in`
  const only = target && !actsIn(target.state, limit) ? ', if it runs by then' : ''
  const snoozed = limit.snoozedUntil === undefined ? '' : ' It was extended.'
  const spending = target ? [target] : Object.values(instances)
  const at = isSure ? '' : `, at the ${rateWord(spending, dueAt)}`
  return `${acts} ${inWords} ${duration(dueAt - now)}${at}${only}.${snoozed}${usedWords(limit, now)}`
}

/** Who used an instance whose GPUs were idle, for as long as that delays its limit. */
function usedWords({ used, when }: Pick<LimitView, 'used' | 'when'>, now: number): string {
  if (!used || when.kind !== 'idle' || now - used.at > when.seconds) return ''
  return ` ${sentence(useWords(used.by)).slice(0, -1)} ${atMoment(used.at, now)}.`
}

/** The rate that a moment by costs goes by: the present one, or what was agreed to if an accepted price begins before. */
function rateWord(limited: readonly InstanceView[], dueAt: number): string {
  const rises = limited.some(({ spent: { rise } }) => rise !== undefined && rise.at < dueAt)
  return rises ? 'agreed prices' : 'current rate'
}

/** Why a limit on costs has no moment. `instance`: absent for one on the account. */
export function notDue(
  { instance }: Pick<LimitView, 'instance'>,
  instances: AccountView['instances'],
): string {
  const limited = instance === undefined ? Object.values(instances) : [instances[instance]]
  return limited.some(one => one?.costUnknown)
    ? 'Unknown: the service doesn’t report all spending.'
    : 'It isn’t reached at the current rate.'
}

function notIdle(instance: InstanceView | undefined): string {
  return instance && instance.state !== 'running'
    ? 'Active once the instance runs.'
    : 'It isn’t idle right now.'
}

/**
 * The text below a limit in dollars: the instance's cost up to `now` (account time, epoch seconds), or that a budget
 * lasts until the end of its day or month.
 */
export function limitHint(
  kind: 'cost' | 'day' | 'month',
  instance: InstanceView | undefined,
  now: number,
): string | undefined {
  if (kind !== 'cost')
    return `Total of all instances, in local time. Instances that start later that ${kind} are stopped too.`
  if (!instance) return undefined
  const spent = knownSpent(instance, now)
  if (spent === undefined) return 'The service doesn’t report its cost.'
  return `Since renting: ${money(spent)} so far, now ${costOf([instance])}.`
}

/**
 * When the limit in the dialog would act on `limited`. The sentence before it has the moment where that is certain.
 */
export function previewMoment(
  kind: LimitKind,
  dueAt: number,
  now: number,
  limited: readonly InstanceView[],
): string {
  const away = `in ${duration(dueAt - now)}`
  if (limitKinds[kind].isSure) return `${away.charAt(0).toUpperCase()}${away.slice(1)}.`
  return `At the ${rateWord(limited, dueAt)}: ${atMoment(dueAt, now)}, ${away}.`
}

/** A snooze's label: `15 min`, `4 h`. */
export const snoozeOptions = snoozes.map(minutes => ({ minutes, label: duration(minutes * 60) }))

/** Those that act next first, then those that wait, those that are off, and those that have ended, the newest first. */
export function sortLimits(limits: readonly LimitView[]): LimitView[] {
  return limits.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.dueAt ?? Number.MAX_VALUE) - (b.dueAt ?? Number.MAX_VALUE) ||
      (b.history.at(-1)?.at ?? 0) - (a.history.at(-1)?.at ?? 0),
  )
}

function rank(limit: LimitView): number {
  if (limit.step === 'off') return 1
  return hasEnded(limit) ? 2 : 0
}

export const watchdogStepWords: Record<WatchdogView['step'], string> = {
  putting: 'Installing',
  watching: 'Watching',
  removing: 'Removing',
  lost: 'Missing from the instance',
}

/** A watchdog's latest report, in short lines. */
export function reportWords({ report, request }: WatchdogView): string[] {
  if (!report) return []
  const { load, blind, idleFor, leasedFor, why, tries, comesBack, key } = report
  return [
    ...(load === undefined ? [] : [`GPU load ${load}%`]),
    ...(blind ? ['can’t read the GPU load, so idle time doesn’t count'] : []),
    ...(idleFor === undefined || !request.idle
      ? []
      : [`idle for ${duration(idleFor)} of ${duration(request.idle.seconds)}`]),
    ...(leasedFor === undefined ? [] : [`lease renewed ${duration(leasedFor)} ago`]),
    ...(why === undefined
      ? []
      : [`acting because ${watchdogReason(why)}${tries ? `; tried ${tries} times` : ''}`]),
    comesBack ? 'survives a restart' : 'Berth reinstalls it if the container restarts',
    key === 'container'
      ? 'uses the container’s own key'
      : 'uses the instance’s own key, stored in its folder',
  ]
}
