import type { LimitView } from '#contract/automation/limit.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { AccountView } from '#contract/state.ts'
import { isDeepEqual } from '#core/state/same.ts'
import type { Store } from '#core/state/store.ts'
import type { Collection } from '#core/storage/collection.ts'
import { dueOf } from '../decide/moment.ts'
import { nextMoment } from '../decide/next-moments.ts'
import type { Facts } from '../facts/facts.ts'
import type { Limit } from '../model.ts'
import { blindness, limitView } from './view.ts'
import { limitSentence, whatItDoes } from './words.ts'

/** An account's limits in State. */
export interface ShownLimits {
  /** Writes changes; a moment that moves by seconds is none. Moments up to `seen` are decided already. */
  show(facts: Facts, now: number, seen: number): void
  /** The next moment at which a limit has to do something, epoch seconds of the account's time. */
  next(): number | undefined
  /** Running instances with an idle limit whose GPU load the service does not report. */
  unknownLoads(account: Pick<AccountView, 'instances'>): InstanceView[]
}

/** Seconds by which a distant moment must move to be written again; near moments are more exact. */
const noticeable = 30
/** A change by this share of the remaining time is written, too, but at least by a second. */
const noticeablePart = 0.05

export function createShownLimits({
  store,
  account,
  limits: stored,
  busy,
}: {
  store: Store
  account: AccountId
  limits: Pick<Collection<Limit, string>, 'all'>
  busy: ReadonlySet<string>
}): ShownLimits {
  let next = Number.POSITIVE_INFINITY

  /** Reuses the view in State if it is unchanged, since its sentence is expensive to write. */
  function draw(limit: Limit, before: LimitView | undefined, facts: Facts, now: number, exact?: number) {
    const { instances } = facts.account
    const dueAt = before && isNear(before.dueAt, exact, now) ? before.dueAt : exact && Math.round(exact)
    const acting = busy.has(limit.id)
    const blind = blindness(limit, facts, now)
    const view = limitView(limit, { now, dueAt, acting, blind, sentence: before?.sentence ?? '' })
    const isSame =
      before && isDeepEqual(before, view) && before.sentence.startsWith(whatItDoes(limit, instances))
    return isSame ? before : { ...view, sentence: limitSentence(limit, instances, now) }
  }

  return {
    show(facts, now, seen) {
      const before = store.get().accounts[account]?.limits
      if (!before) return
      next = Number.POSITIVE_INFINITY
      const changed: LimitView[] = []
      const gone = new Set(Object.keys(before))
      for (const limit of stored.all()) {
        gone.delete(limit.id)
        const dueAt = limit.ended ? undefined : dueOf(limit, facts)
        // While it acts, or its instance is missing from the answer, there is no next moment.
        const isThere = limit.instance === undefined || limit.instance in facts.account.instances
        const moment = isThere && !busy.has(limit.id) ? nextMoment(limit, dueAt, now, seen) : undefined
        if (moment !== undefined) next = Math.min(next, moment)
        const view = draw(limit, before[limit.id], facts, now, dueAt)
        if (view !== before[limit.id]) changed.push(view)
      }
      if (changed.length === 0 && gone.size === 0) return
      store.change(draft => {
        const target = draft.accounts[account]
        if (!target) return
        for (const view of changed) target.limits[view.id] = view
        for (const id of gone) delete target.limits[id]
      })
    },
    next: () => (Number.isFinite(next) ? next : undefined),
    unknownLoads({ instances }) {
      const ids = new Set(
        stored
          .all()
          .flatMap(({ condition, instance, ended }) =>
            condition.kind === 'idle' && !ended && instance !== undefined ? [instance] : [],
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
