import {
  actsIn,
  fixedMoment,
  type LimitAction,
  type LimitWhen,
  type MostShown,
} from '#shared/automation/limit.ts'
import { unusedSentence } from '#shared/automation/use.ts'
import {
  costOnceReady,
  expectedTraffic,
  grownFrom,
  isSpendingUnknown,
  likelyTraffic,
  spentBy,
} from '#shared/derived.ts'
import { money } from '#shared/format/money.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { creditRate, type Facts } from './facts.ts'
import type { StoredLimit } from './model.ts'

/** How a limit of one kind reads the facts. The idle time, which spans many polls, is counted by `withIdle`. */
interface KindOfLimit<Condition> {
  /** When it is due if nothing changes; undefined if never. */
  moment(
    when: Condition,
    limit: Pick<StoredLimit, 'instance' | 'when' | 'setAt' | 'idleSince'> &
      Partial<Pick<StoredLimit, 'action'>>,
    facts: Facts,
  ): number | undefined
  /** Why it lacks its data; undefined if it has it. */
  blindness(limit: Pick<StoredLimit, 'instance'>, facts: Facts): Problem | undefined
  /** A sentence for the history with the observed figure, if that is not the instance's cost. */
  figureWords?(when: Condition, facts: Facts, limit: Pick<StoredLimit, 'instance'>): string
  /**
   * Until when the spending it depends on is known, if the service reports the instances but not the credit: then its
   * moment is an estimate by the prices, and it does not act. Undefined if it is reported.
   */
  creditStaleSince?(facts: Facts): number | undefined
}

type Of<Kind extends LimitWhen['kind']> = Extract<LimitWhen, { kind: Kind }>

const kinds: { readonly [Kind in LimitWhen['kind']]: KindOfLimit<Of<Kind>> } = {
  time: { moment: (_, limit) => fixedMoment(limit), blindness: () => undefined },
  duration: { moment: (_, limit) => fixedMoment(limit), blindness: () => undefined },
  idle: {
    moment: ({ seconds }, { idleSince }) => (idleSince === undefined ? undefined : idleSince + seconds),
    blindness({ instance = 0 }, { account, loads }) {
      const target = account.instances[instance]
      if (target?.state !== 'running' || target.gpuLoad !== undefined) return undefined
      const heard = loads.get(instance)
      if (heard === undefined) return loadUnknown
      return heard.why === undefined ? undefined : loadUnread(heard.why)
    },
    figureWords: (_, { uses, account, at }, { instance = 0 }) =>
      [unusedSentence(uses.has(instance)), costSentence(account.instances[instance], at)].join(' ').trim(),
  },
  cost: {
    moment(when, { instance, action }, { account }) {
      const target = account.instances[instance ?? 0]
      return costMoment(when, target, sparesInferred(action, target))
    },
    blindness({ instance = 0 }, { account }) {
      const target = account.instances[instance]
      if (target?.costUnknown) return costUnknown
      return target && target.startedAt === undefined ? startUnknown : undefined
    },
  },
  budget: {
    moment({ per, dollars }, _, facts) {
      const [began, ends] =
        per === 'day' ? [facts.dayBegan, facts.dayEnds] : [facts.monthBegan, facts.monthEnds]
      const from = Math.max(facts.countedAt, began)
      const perHour = facts.account.spendPerHour + expectedOfAll(facts)
      const at = reached({ micros: spentIn(per, facts), at: from, perHour }, micros(dollars))
      return at === undefined || at >= ends ? undefined : at
    },
    blindness: () => undefined,
    figureWords: ({ per }, facts) => `Spent at that time: ${money(spentIn(per, facts))}.`,
    creditStaleSince: ({ account: { creditAt }, countedAt, at }) =>
      creditAt !== undefined && countedAt < at ? countedAt : undefined,
  },
  credit: {
    moment({ hours }, _, facts) {
      const { credit, creditAt = facts.at } = facts.account
      const perHour = creditRate(facts)
      if (credit === undefined) return undefined
      if (perHour > 0) return creditAt + (credit / perHour - hours) * 3600
      return credit <= 0 && isSpendingUnknown(facts.account) ? creditAt : undefined
    },
    blindness(_, { account: { credit, creditUntold: isUntold } }) {
      if (credit !== undefined) return undefined
      return isUntold ? creditUntold : creditUnknown
    },
    figureWords: (_, { account: { credit } }) =>
      credit === undefined ? '' : `Credit at that time: ${money(credit)}.`,
    creditStaleSince: ({ account: { creditAt } }) => creditAt,
  },
  // Only a watchdog knows of it.
  away: { moment: () => undefined, blindness: () => undefined },
}

/** What an instance has cost, as a sentence; '' where that isn't known. */
export function costSentence(one: InstanceView | undefined, at: number): string {
  return one && !one.costUnknown ? `It has cost ${money(spentBy(one, at))} so far.` : ''
}

/** Whether only what it is known to have cost counts: it would lose its files, and there is nothing to stop. */
function sparesInferred(action: LimitAction | undefined, target: InstanceView | undefined): boolean {
  return action === 'destroy' && target !== undefined && !actsIn(target.state, { action: 'stop' })
}

/**
 * What a limit does to its instance now. Where it has reached its cost only by a part that something else may have spent,
 * beyond a twentieth, it keeps the files.
 */
export function actionNow(
  limit: Deciding & Pick<StoredLimit, 'action'>,
  target: InstanceView,
  now: number,
): LimitAction {
  const { action } = limit
  const when = whenFirst(limit, target)
  if (when.kind !== 'cost' || !target.spent.inferred || sparesInferred(action, target)) return action
  const surely = costMoment({ dollars: 0.95 * when.dollars }, target, true)
  return surely !== undefined && surely <= now ? action : 'stop'
}

/** `surely`: only what it is known to have cost counts. `traffic`: to come, micro-dollars per hour. */
function costMoment(
  { dollars }: { dollars: number },
  target: InstanceView | undefined,
  surely = false,
  traffic = target && expectedTraffic(target),
): number | undefined {
  if (!target) return undefined
  const { spent } = target
  const counted = surely ? spent.micros - (spent.inferred ?? 0) : spent.micros
  return reached({ ...onceReady(target), micros: counted }, micros(dollars), traffic)
}

/** How its cost grows: one that boots costs its full price in a moment. */
function onceReady(target: InstanceView): InstanceView['spent'] {
  const { spent } = target
  return { ...spent, perHour: Math.max(spent.perHour, costOnceReady(target)) }
}

/** What decides when a limit acts. */
type Deciding = Pick<StoredLimit, 'when' | 'setAt' | 'snoozedUntil' | 'most' | 'begunAt'> &
  Partial<Pick<StoredLimit, 'action'>>

/**
 * The condition by which a limit acts: its own, or the cost that was shown with its rental, where that comes first. What it
 * began to act for stays.
 */
export function whenFirst(limit: Deciding, target: InstanceView | undefined): LimitWhen {
  const { when, most } = limit
  if (!most) return when
  const { snoozedUntil = 0, begunAt, action } = limit
  const dollars = most.dollars + (most.traffic ?? (target?.traffic?.spent ?? 0) / 1_000_000)
  const reachedAt = begunAt ?? costMoment({ dollars }, target, sparesInferred(action, target))
  const latest = Math.max(fixedMoment(limit) ?? Number.POSITIVE_INFINITY, snoozedUntil) - clearly
  return reachedAt !== undefined && reachedAt < latest ? { kind: 'cost', dollars } : when
}

/** What was shown for an instance whose limit is extended: raised to what it costs until then at its present price. */
export function mostUntil(
  most: MostShown | undefined,
  target: InstanceView | undefined,
  until: number,
): MostShown | undefined {
  if (!most || !target) return most
  const { spent, traffic } = target
  const then = spent.micros + grownFrom(onceReady(target), until, expectedTraffic(target))
  const apart = most.traffic === undefined ? (traffic?.spent ?? 0) : micros(most.traffic)
  return { ...most, dollars: Math.max(most.dollars, (then - apart) / 1_000_000) }
}

/** Seconds by which a cost may come before a time, from rounding, and since it counts before the limit is set. */
const clearly = 60

/**
 * When a watchdog on its instance is to act for a limit, as things are: at its moment, or once it has cost so much,
 * with traffic like that of the last hour where the limit counts it. Undefined where it has no moment. `known`: what
 * the watchdog goes by now, which stays while it is close enough.
 */
export function momentAsleep(
  limit: Deciding,
  target: InstanceView | undefined,
  known: number | undefined,
  now: number,
): number | undefined {
  const when = whenFirst(limit, target)
  if (when.kind !== 'cost') return fixedMoment(limit)
  const isExtra = limit.most !== undefined && limit.most.traffic === undefined
  const traffic = isExtra || !target ? 0 : likelyTraffic(target)
  const moment = costMoment(when, target, limit.action === 'destroy', traffic)
  if (known === undefined || moment === undefined) return moment ?? known
  // One that doesn't run costs little, and until it runs nobody can tell the watchdog.
  return target?.state === 'running' && hasMoved(known, moment, now) ? moment : known
}

/**
 * Whether a watchdog on a stopped instance may have acted for a limit while Berth was away, as far as its moment tells, or its
 * cost within a twentieth. `seenAt`: when it was last seen running, epoch seconds.
 */
export function wasDueAsleep(
  { when, setAt, asleep }: Pick<StoredLimit, 'when' | 'setAt' | 'asleep'>,
  target: Pick<InstanceView, 'spent'> | undefined,
  seenAt: number,
  now: number,
): boolean {
  if (!asleep || now - seenAt < longestBetween) return false
  if (when.kind === 'cost') return target !== undefined && target.spent.micros >= 0.95 * micros(when.dollars)
  const moment = when.kind === 'away' ? seenAt + when.seconds : fixedMoment({ when, setAt })
  return moment !== undefined && moment <= now && moment >= seenAt - longestBetween
}
/** Seconds between two sights of an instance while Berth is there, at most. */
const longestBetween = 300

/** Whether a watchdog has to be told: its moment is late by half a minute, or early by a twentieth of what is left. */
export function hasMoved(known: number, moment: number, now: number): boolean {
  const early = Math.min(600, Math.max(60, (moment - now) / 20))
  return moment < known - 30 || moment > known + early
}

/** The shares of a budget of which its user hears, in percent, each once in its day or month. */
const shares = [50, 80, 100]

function spentIn(per: 'day' | 'month', { spentToday, spentThisMonth }: Facts): Micros {
  return per === 'day' ? spentToday : spentThisMonth
}

/** A budget of which a share is spent, with that noted; undefined where that was told, and for other limits. */
export function withShareTold(
  limit: StoredLimit,
  facts: Facts,
): { limit: StoredLimit; share: number; spent: Micros; when: LimitWhen & { kind: 'budget' } } | undefined {
  const { when, told } = limit
  if (when.kind !== 'budget') return undefined
  const from = when.per === 'day' ? facts.dayBegan : facts.monthBegan
  // What is spent was last counted before midnight.
  if (facts.countedAt < from) return undefined
  const spent = spentIn(when.per, facts)
  const share = shares.findLast(one => spent * 100 >= one * micros(when.dollars))
  if (share === undefined || (told?.from === from && told.share >= share)) return undefined
  return { limit: { ...limit, told: { from, share } }, share, spent, when }
}

/** The entry for a kind of condition; use it only with conditions of that kind. */
export function kindOf({ kind }: LimitWhen): KindOfLimit<LimitWhen> {
  return kinds[kind]
}

function expectedOfAll({ account: { instances } }: Facts): Micros {
  return Object.values(instances).reduce((sum, instance) => sum + expectedTraffic(instance), 0)
}

/** When a sum that grows, by `extra` more each hour, reaches the limit; when it was last known if it is already there. */
function reached(
  { micros: spent, at, perHour, rise }: InstanceView['spent'],
  limit: Micros,
  extra = 0,
): number | undefined {
  if (rise) {
    const turn = Math.max(rise.at, at)
    const before = reached({ micros: spent, at, perHour }, limit, extra)
    if (before !== undefined && before <= turn) return before
    const then = spent + ((perHour + extra) * (turn - at)) / 3600
    return reached({ micros: then, at: turn, perHour: rise.perHour }, limit, extra)
  }
  const grows = perHour + extra
  if (grows > 0) return at + ((limit - spent) * 3600) / grows
  return spent >= limit ? at : undefined
}

const loadUnknown: Problem = {
  code: 'no_gpu_load',
  message: 'Its GPU load is unknown, so this limit can’t act.',
  advice:
    'The service doesn’t report the load, and Berth couldn’t read it over SSH. Open a terminal to see why.',
}

const loadUnread = (why: string): Problem => ({
  code: 'gpu_load_unread',
  message: `Its GPU load can’t be read, so this limit can’t act: ${why}.`,
  advice: 'Set a limit by time or cost.',
})

const costUnknown: Problem = {
  code: 'cost_unknown',
  message: 'The service doesn’t report its cost, so this limit can’t act.',
  advice: 'Set a time limit.',
}

const startUnknown: Problem = {
  code: 'start_unknown',
  message: 'Its rental time is unknown, so this limit counts from when Berth first saw it.',
  advice: 'It may have cost more. Set a time limit as well.',
}

const creditUnknown: Problem = {
  code: 'credit_unknown',
  message: 'The credit is unknown, so this limit can’t act.',
  advice: 'Enter a key that can read the account (user_read).',
}

const creditUntold: Problem = {
  code: 'credit_unknown',
  message: 'The service doesn’t report the credit, so this limit can’t act.',
  advice: 'Set a limit by time or by cost.',
}
