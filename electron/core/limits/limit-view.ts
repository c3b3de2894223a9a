import { type LimitPreview, type LimitStep, type LimitView, limitKinds } from '#shared/automation/limit.ts'
import { actionWords, limitSentence } from '#shared/automation/limit-words.ts'
import { isSpendingUnknown } from '#shared/derived.ts'
import { moment } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import type { Collection } from '../storage/collection.ts'
import { isDeepEqual, type Store } from '../storage/store.ts'
import { creditStaleSince, dueOf, nextMoment, withIdle } from './decide.ts'
import { type Facts, type LimitInputs, loadOf } from './facts.ts'
import { kindOf, whenFirst } from './limit-due.ts'
import { endOf, type StoredLimit } from './model.ts'
import { targetsOf } from './targets.ts'

export type ShownLimits = ReturnType<typeof createShownLimits>

/** Seconds by which a distant moment must move to be written again; near moments are more exact. */
const noticeable = 30
/** A change by this share of the remaining time is written, too, but at least by a second. */
const noticeablePart = 0.05

/** An account's limits in State. */
export function createShownLimits({
  store,
  account,
  limits: stored,
  isActing,
}: {
  store: Store
  account: AccountId
  limits: Pick<Collection<StoredLimit, string>, 'all'>
  isActing: (limit: string) => boolean
}) {
  let next = Number.POSITIVE_INFINITY

  /** The stored limits from which views in State were made while those did not act. */
  const drawnFrom = new WeakMap<LimitView, StoredLimit>()

  /** Reuses the view in State if it is unchanged, since its sentence is expensive to write. */
  function draw(
    stored: StoredLimit,
    before: LimitView | undefined,
    facts: Facts,
    now: number,
    exact?: number,
  ) {
    const { instances } = facts.account
    const when = whenFirst(stored, instances[stored.instance ?? ''])
    const limit = when === stored.when ? stored : { ...stored, when }
    const dueAt = before && isNear(before.dueAt, exact, now) ? before.dueAt : exact && Math.round(exact)
    const acting = isActing(limit.id)
    const blind = blindness(limit, facts, now)
    const isNamed = before?.sentence.startsWith(actionWords(limit, instances)) === true
    const isKnown = before && isNamed && !acting && limit === stored && drawnFrom.get(before) === stored
    // Else only these follow from anything but the stored limit.
    const isUnmoved = isKnown && before.dueAt === (stored.ended ? undefined : dueAt)
    if (
      isUnmoved &&
      before.snoozedUntil === snoozeOf(stored, now) &&
      before.problem === (stored.problem ?? blind)
    )
      return before
    const view = limitView(limit, { now, dueAt, acting, blind, sentence: before?.sentence ?? '' })
    const isSame = before && isNamed && isDeepEqual(before, view)
    const drawn = isSame ? before : { ...view, sentence: limitSentence(limit, instances, now) }
    if (!acting && limit === stored) drawnFrom.set(drawn, stored)
    return drawn
  }

  return {
    /** Writes changes; a moment that moves by seconds is none. Moments up to `seen` are decided already. */
    show(facts: Facts, now: number, seen: number): void {
      const before = store.get().accounts[account]?.limits
      if (!before) return
      next = Number.POSITIVE_INFINITY
      const changed: LimitView[] = []
      const limits = stored.all()
      for (const limit of limits) {
        const dueAt = limit.ended ? undefined : dueOf(limit, facts)
        // While it acts, or its instance is missing from the answer, there is no next moment.
        const isThere = limit.instance === undefined || limit.instance in facts.account.instances
        const moment = isThere && !isActing(limit.id) ? nextMoment(limit, dueAt, now, seen) : undefined
        if (moment !== undefined) next = Math.min(next, moment)
        const known = before[limit.id]
        const view = draw(limit, known, facts, now, dueAt)
        if (view !== known) changed.push(view)
      }
      const there = new Set(limits.map(({ id }) => id))
      const gone = Object.keys(before).filter(id => !there.has(id))
      if (changed.length === 0 && gone.length === 0) return
      store.change(draft => {
        const target = draft.accounts[account]
        if (!target) return
        for (const view of changed) target.limits[view.id] = view
        for (const id of gone) delete target.limits[id]
      })
    },
    /** The next moment at which a limit has to do something, epoch seconds of the account's time. */
    next: (): number | undefined => (Number.isFinite(next) ? next : undefined),
    /** Running instances with an idle limit that is about to act, unless somebody uses them. `ahead`: seconds before it does. */
    nearlyIdle({ instances }: Pick<AccountView, 'instances'>, now: number, ahead: number): InstanceView[] {
      return stored.all().flatMap(({ when, instance: id = 0, ended, idleSince }) => {
        const instance = instances[id]
        const isNear =
          when.kind === 'idle' && idleSince !== undefined && idleSince + when.seconds - ahead <= now
        return isNear && !ended && instance?.state === 'running' ? [instance] : []
      })
    },
    /** Running instances with an idle limit whose GPU load the service does not report. */
    unknownLoads({ instances }: Pick<AccountView, 'instances'>): InstanceView[] {
      const ids = new Set(
        stored
          .all()
          .flatMap(({ when, instance, ended }) =>
            when.kind === 'idle' && !ended && instance !== undefined ? [instance] : [],
          ),
      )
      return [...ids].flatMap(id => {
        const instance = instances[id]
        return instance?.state === 'running' && instance.gpuLoad === undefined ? [instance] : []
      })
    },
  }
}

function isNear(a: number | undefined, b: number | undefined, now: number): boolean {
  if (a === undefined || b === undefined) return a === b
  return Math.abs(a - b) < Math.min(noticeable, Math.max(1, (b - now) * noticeablePart))
}

/** A limit for the page. `dueAt` as of the last poll; `acting` while its requests are pending. */
export function limitView(
  limit: StoredLimit,
  facts: {
    now: number
    dueAt: number | undefined
    acting: boolean
    blind: Problem | undefined
    sentence: string
  },
): LimitView {
  const { id, instance, when, action, asleep, warning, missed, setAt, history } = limit
  const step = stepOf(limit, facts.acting)
  return {
    id,
    instance,
    when,
    action,
    asleep,
    warning,
    missed,
    setAt,
    sentence: facts.sentence,
    step,
    dueAt: limit.ended ? undefined : facts.dueAt,
    snoozedUntil: snoozeOf(limit, facts.now),
    used: limit.ended ? undefined : limit.used,
    problem: limit.problem ?? facts.blind,
    history,
  }
}

/** Until when it is put off; if the clock goes back, that applies again. */
function snoozeOf({ snoozedUntil = 0 }: StoredLimit, now: number): number | undefined {
  return snoozedUntil > now ? snoozedUntil : undefined
}

/** A preview of the limit as if it were set now: its action and moment. */
export function previewOf(limit: StoredLimit, known: LimitInputs, now: number): LimitPreview {
  const { facts } = known
  const { account } = facts
  const instance = limit.instance === undefined ? undefined : account.instances[limit.instance]
  const load = instance && loadOf(instance, facts)
  const idle = withIdle(limit, instance, load, { now, unseen: false })
  const dueAt = dueOf(idle, facts)
  const blind = blindness(limit, facts, now)
  return {
    sentence: limitSentence(limit, account.instances, now),
    dueAt: dueAt && Math.round(dueAt),
    isDue: (dueAt !== undefined && dueAt <= now) || undefined,
    targets: targetsOf(limit, known, now),
    doubt:
      blind?.code === 'no_gpu_load'
        ? 'The service doesn’t report its GPU load: Berth reads it over SSH each minute, so SSH must work.'
        : blind?.message,
  }
}

/** Why the limit cannot observe its condition; undefined if it can. `now`: epoch seconds of the account's time. */
export function blindness(limit: StoredLimit, facts: Facts, now: number): Problem | undefined {
  const { when, ended } = limit
  if (ended) return undefined
  const blind = kindOf(when).blindness(limit, facts)
  if (blind || limitKinds[when.kind].on !== 'account') return blind
  const since = creditStaleSince(limit, facts)
  if (since !== undefined) return creditStale(moment(since, now))
  if (!isSpendingUnknown(facts.account)) return undefined
  return facts.account.credit === undefined ? spendingUnknown : spendingUnseen
}

const spendingUnknown: Problem = {
  code: 'spending_unknown',
  message:
    'The service reports neither the credit nor all spending: this limit counts only the part that it reports.',
  advice: 'Set a time limit.',
}

const spendingUnseen: Problem = {
  code: 'spending_unseen',
  message:
    'The service doesn’t report all spending: this limit can’t look ahead, and follows the credit as it falls.',
  advice: 'Set a time limit as well.',
}

const creditStale = (since: string): Problem => ({
  code: 'credit_stale',
  message: `The service hasn’t reported the credit since ${since}. Until it does, this limit only warns and doesn’t act.`,
  advice: 'Its time is estimated from the prices. If that’s too late, stop the instances yourself.',
})

function stepOf(limit: StoredLimit, acting: boolean): LimitStep {
  const end = endOf(limit)
  if (end) return end
  if (acting && limit.failures === undefined) return 'acting'
  if (limit.passed) return 'missed'
  if (limit.heldAt !== undefined || limit.failures !== undefined) return 'held'
  return limit.warnedAt === undefined ? 'waiting' : 'warned'
}
