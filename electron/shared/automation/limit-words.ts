import { accountNow, localMoment } from '../derived.ts'
import { instanceName, named, shortInstanceName } from '../format/name.ts'
import { counted } from '../format/size.ts'
import { atMoment, duration, moment } from '../format/time.ts'
import type { InstanceView } from '../instance/instance.ts'
import type { AccountView, ConnectionState } from '../state.ts'
import {
  dueNext,
  fixedMoment,
  type Limit,
  type LimitAction,
  type LimitView,
  type LimitWhen,
  limitKinds,
  limitsSet,
} from './limit.ts'
import { conditionsOf, type WatchdogReason, type WatchdogRequest } from './watchdog.ts'

type Instances = Readonly<Record<string, InstanceView>>

/** A limit as far as its words go. */
type Worded = Pick<LimitView, 'when' | 'setAt' | 'snoozedUntil'>

type WordedOn = Worded & Pick<LimitView, 'instance' | 'action'>

/** A limit's condition, as the end of `Stops when…`. `now` in epoch seconds of the account's time. */
export function conditionWords(limit: Worded, now: number): string {
  const { when } = limit
  return limitKinds[when.kind].clause?.(when) ?? `it is ${fixedWords(limit, moment, now)}`
}

/** The same after a verb: `at 15:34`, `when it has cost $5.00`. */
export function whenWords(limit: Worded, now: number): string {
  const { when } = limit
  const clause = limitKinds[when.kind].clause?.(when)
  return clause === undefined ? fixedWords(limit, atMoment, now) : `when ${clause}`
}

/** `15:34, snoozed from 15:19`, for a limit with a fixed moment. */
function fixedWords(limit: Worded, formatMoment: typeof moment, now: number): string {
  const { when, snoozedUntil = 0 } = limit
  const at = fixedMoment(limit) ?? 0
  if (snoozedUntil > at) return `${formatMoment(snoozedUntil, now)}, extended from ${moment(at, now)}`
  return `${formatMoment(at, now)}${when.kind === 'duration' ? ` (${duration(when.seconds)} limit)` : ''}`
}

/** Why a limit acts, as a clause: `its cost reached $5.00`. */
export function reasonClause(when: LimitWhen): string {
  const { reason, clause } = limitKinds[when.kind]
  return reason?.(when) ?? clause?.(when) ?? ''
}

/** The same as a sentence. */
export function reasonSentence(when: LimitWhen): string {
  return sentence(reasonClause(when))
}

/** A clause as a sentence. */
export function sentence(words: string): string {
  return `${capital(words)}.`
}

/** A limit as a sentence, which begins with `actionWords`. */
export function limitSentence(limit: WordedOn, instances: Instances, now: number): string {
  if (limit.instance === undefined) return accountSentence(limit)
  return `${actionWords(limit, instances)}${whenWords(limit, now)}.`
}

/** The beginning of the sentence: `Stops llama #4711 `. The rest only changes with the limit. */
export function actionWords({ instance, action }: WordedOn, instances: Instances): string {
  if (instance === undefined) return 'Stops '
  const name = nameOf(instance, instances, instanceName)
  return action === 'stop' ? `Stops ${name} ` : `Destroys ${name} with all its files `
}

function accountSentence(limit: WordedOn): string {
  const when = whenWords(limit, 0)
  const destroys = limit.action === 'destroy'
  if (limit.when.kind === 'credit') {
    const more = destroys ? ' If that isn’t enough, it destroys stopped instances.' : ''
    return `Stops instances one at a time, the cheapest to stop first, ${when}.${more}`
  }
  const more = destroys ? ' Then it destroys stopped instances, with all their files.' : ''
  return `Stops all running instances ${when}.${more}`
}

/** `llama #4711 stops`, `everything stops`: the limit's effect. */
export function effectWords(
  { instance, action, when }: Pick<WordedOn, 'instance' | 'action' | 'when'>,
  instances: Instances,
): string {
  if (instance !== undefined)
    return `${nameOf(instance, instances)} ${action === 'stop' ? 'stops' : 'is destroyed'}`
  return when.kind === 'credit' ? 'One instance stops' : 'Everything stops'
}

/** `Stopped llama #4711 and eval #4712`, of either action or both. */
export function doneWords(
  targets: readonly { instance: number; action: LimitAction; name?: string }[],
  instances: Instances,
): string {
  const parts = (['stop', 'destroy'] as const).flatMap(action => {
    const names = targets
      .filter(target => target.action === action)
      .map(({ instance, name }) =>
        name !== undefined && !instances[instance] ? name : nameOf(instance, instances),
      )
    return names.length === 0 ? [] : [`${action === 'stop' ? 'Stopped' : 'Destroyed'} ${listed(names)}`]
  })
  return parts.join('. ')
}

/** A few names, as notifications are short. */
export function listed(names: readonly string[]): string {
  return named(names, { most: 3 })
}

export function nameOf(id: number, instances: Instances, name = shortInstanceName): string {
  const instance = instances[id]
  return instance ? name(instance) : `instance #${id}`
}

/** A condition in a cell, where its moment isn't known: `if idle 30 min`. */
export function conditionBriefly(when: LimitWhen): string {
  return limitKinds[when.kind].briefly?.(when) ?? 'at the set time'
}

/** A condition as a button: `30 min idle`, `8 h`, `$20`, `$0.20`. */
export function conditionLabel(when: LimitWhen): string {
  return limitKinds[when.kind].label?.(when) ?? conditionBriefly(when)
}

/** A limit that is to be set on an instance: `Stops 8 h after renting`; `from` names the start of a duration. */
export function stopSentence(
  { when, action = 'stop' }: Pick<Limit, 'when'> & Partial<Limit>,
  from = 'after renting',
): string {
  const verb = action === 'stop' ? 'Stops' : 'Destroys it'
  if (when.kind === 'duration') return `${verb} ${duration(when.seconds)} ${from}`
  const clause = limitKinds[when.kind].clause?.(when)
  return clause === undefined ? `${verb} at the set time` : `${verb} when ${clause}`
}

/** A watchdog's task, as a sentence. */
export function watchdogWords(request: WatchdogRequest, now: number): string {
  const reasons = conditionsOf(request).map(when => whenWords({ when, setAt: now }, now))
  if (reasons.length === 0) return 'Waits for runs that stop or destroy the instance at their end.'
  return `${request.action === 'stop' ? 'Stops' : 'Destroys'} this instance ${reasons.join(', or ')}.`
}

const watchdogReasons: Record<WatchdogReason, string> = {
  time: 'its set time had passed',
  idle: 'it was idle for the set time',
  lease: 'Berth was away for the set time',
  run: 'a run on it had ended',
}

/** Why a watchdog acted, as a clause. */
export function watchdogReason(why: WatchdogReason): string {
  return watchdogReasons[why]
}

/** Why a limit stops an instance that is about to run, and its action, as a sentence. */
export function stopperWords({ when, action, instance }: WordedOn): string {
  const does = action === 'stop' ? 'stops' : instance === undefined ? 'stops and then destroys' : 'destroys'
  const what = when.kind === 'credit' ? 'the instance that’s cheapest to stop' : 'it'
  return `${capital(reasonClause(when))}: its limit ${does} ${what} at the next poll.`
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** Why no limit of an account acts now, to follow `cannot act`; undefined where they act. */
export function limitHindrance({ status }: Pick<ConnectionState, 'status'>): string | undefined {
  switch (status) {
    case 'locked':
      return 'until Berth has the API key again'
    case 'refused':
      return 'until the API key is accepted again'
    case 'offline':
      return 'until the service answers again'
    default:
      return undefined
  }
}

/** A limit that is due next, on one of several accounts. */
export interface DueLimit {
  account: AccountView
  limit: LimitView
  /** Epoch seconds of the account's time. */
  dueAt: number
  timing: 'Next' | 'Then' | 'Can’t act now'
}

/** The limits due next, at most `each` of each account, the soonest in real time first. */
export function dueLimits(accounts: readonly AccountView[], each: number): DueLimit[] {
  return (
    accounts
      .flatMap(account =>
        dueNext(account)
          .slice(0, each)
          .map(due => ({ ...due, account })),
      )
      // In local time: an account's clock may be ahead or run faster, as the demo's does.
      .sort((a, b) => localMoment(a.account.clock, a.dueAt) - localMoment(b.account.clock, b.dueAt))
      .map((due, index) => {
        const { connection, watchdogs } = due.account
        const acts = limitHindrance(connection) === undefined || isKeptByWatchdog(due.limit, watchdogs)
        return { ...due, timing: !acts ? 'Can’t act now' : index === 0 ? 'Next' : 'Then' }
      })
  )
}

/** Whether a watchdog on the instance acts on a limit without Berth, its key and its network. */
export function isKeptByWatchdog(
  { instance, asleep, when }: Pick<LimitView, 'instance' | 'asleep' | 'when'>,
  watchdogs: AccountView['watchdogs'],
): boolean {
  const watchdog = watchdogs[instance ?? '']
  if (!asleep || !watchdog || watchdog.foreign) return false
  if (watchdog.step === 'watching') return true
  // One that came with a rental, and that Berth hasn't visited yet.
  const condition = when.kind === 'idle' ? 'idle' : when.kind === 'away' ? 'lease' : 'at'
  return watchdog.step === 'putting' && !watchdog.unseen && watchdog.there?.[condition] !== undefined
}

/** How many limits that may still act need Berth, its key and its network: of an instance, or of all. */
export function limitsByBerth(
  account: Pick<AccountView, 'limits' | 'watchdogs'>,
  instance?: InstanceView['id'],
): number {
  return limitsSet([account]).filter(
    limit =>
      (instance === undefined || limit.instance === instance) && !isKeptByWatchdog(limit, account.watchdogs),
  ).length
}

/** `2 limits are set and cannot act until the service answers again.`; undefined without limits or hindrance. */
export function hinderedLimits(limits: number, hindrance: string | undefined): string | undefined {
  if (limits === 0 || hindrance === undefined) return undefined
  return `${counted(limits, 'limit')} ${limits === 1 ? 'is' : 'are'} set and can’t act ${hindrance}.`
}

/**
 * The text about limits after Berth has quit; undefined where there is nothing to say. The demo's end with Berth. `localNow`:
 * milliseconds of this computer.
 */
export function limitsWithoutBerth(
  accounts: readonly AccountView[],
  localNow: number = Date.now(),
): string | undefined {
  const real = accounts.filter(({ demo }) => !demo)
  const limits = real.reduce((sum, account) => sum + limitsByBerth(account), 0)
  const warning = hinderedLimits(limits, 'while Berth is not running')
  const watchdogs = real.some(({ watchdogs }) =>
    Object.values(watchdogs).some(({ step }) => step === 'watching'),
  )
  const sentences = [
    warning,
    warning && watchdogs && 'A watchdog on an instance still can.',
    ...real.flatMap(account => untoldWatchdogs(account, accountNow(account.clock, localNow))),
    ...real.flatMap(unseenWatchdogs),
  ].filter(Boolean)
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

/** Sentences about watchdogs that came with a rental, and that no visit has seen yet. */
function unseenWatchdogs({ watchdogs, instances }: AccountView): string[] {
  return Object.entries(watchdogs).flatMap(([id, { step, there, report }]) => {
    const instance = instances[id]
    if (!instance || !there || report || step !== 'putting') return []
    return `The watchdog that came with ${shortInstanceName(instance)} acts if its start script runs, which Berth hasn’t seen yet.`
  })
}

/**
 * Sentences about watchdogs that couldn't be told of a change, and end their instances at another moment: of an instance, or
 * of all. `now`: epoch seconds of the account's time.
 */
export function untoldWatchdogs(
  { watchdogs, instances }: AccountView,
  now: number,
  only?: InstanceView['id'],
): string[] {
  return Object.entries(watchdogs).flatMap(([id, { step, there, request }]) => {
    const instance = instances[id]
    if (!instance || there?.at === undefined || step === 'watching') return []
    if (only !== undefined && instance.id !== only) return []
    const name = shortInstanceName(instance)
    if (there.at < now)
      return only === undefined
        ? []
        : `The watchdog of ${name} stops it five minutes after a start, unless Berth reaches it before.`
    const wanted = step === 'removing' ? undefined : request.at
    if (wanted !== undefined && Math.abs(wanted - there.at) <= 60) return []
    const isLate = wanted !== undefined && wanted < there.at
    const ends = there.action === 'stop' ? 'stops' : 'destroys'
    const at = `${isLate ? 'only ' : ''}${atMoment(there.at, now)}`
    return `The watchdog of ${name} ${isLate ? '' : 'still '}${ends} it ${at}: it couldn’t be told of the change.`
  })
}
