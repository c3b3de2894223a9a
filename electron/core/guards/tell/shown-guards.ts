import type { GuardView } from '../../../contract/automation/guard.ts'
import type { AccountId } from '../../../contract/ids.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { AccountView } from '../../../contract/state.ts'
import { same } from '../../same.ts'
import type { Store } from '../../store.ts'
import type { GuardBook } from '../book.ts'
import { dueOf, type Facts } from '../decide/moment.ts'
import { nextMoment } from '../decide/next-moments.ts'
import type { Guard } from '../guard.ts'
import { guardView } from './guard-view.ts'

/** An account's guards in State. */
export interface ShownGuards {
  /** Writes what has changed. A moment that moved by seconds has not. */
  show(facts: Facts, now: number): void
  /** The next moment at which something is to be done, epoch seconds of the account's time. */
  next(): number | undefined
  /** Running instances with a guard on their GPU load, which the service does not tell. */
  unknownLoads(account: Pick<AccountView, 'instances'>): InstanceView[]
}

/** Seconds by which a moment must move to be written again. */
const noticeable = 30

/** What a view was made from. */
interface Drawn {
  guard: Guard
  acting: boolean
  blind: boolean
  label: string | undefined
}

export function createShownGuards({
  store,
  account,
  book,
  busy,
}: {
  store: Store
  account: AccountId
  book: GuardBook
  busy: ReadonlySet<string>
}): ShownGuards {
  const drawn = new Map<string, Drawn>()
  let next: number | undefined

  const isBlind = ({ condition, instance, ended }: Guard, { account: { instances }, loads }: Facts) => {
    const seen = instances[instance ?? '']
    return (
      condition.kind === 'idle' &&
      !ended &&
      seen?.state === 'running' &&
      seen.gpuLoad === undefined &&
      !loads.has(seen.id)
    )
  }

  /** The view, or undefined where the one that is shown says the same. */
  function redrawn(
    guard: Guard,
    before: GuardView | undefined,
    facts: Facts,
    now: number,
  ): GuardView | undefined {
    const dueAt = guard.ended ? undefined : dueOf(guard, facts)
    const moment = nextMoment(guard, dueAt, now)
    if (moment !== undefined && (next === undefined || moment < next)) next = moment

    const { instances } = facts.account
    const acting = busy.has(guard.id)
    const blind = isBlind(guard, facts)
    const label = instances[guard.instance ?? '']?.label
    const was = drawn.get(guard.id)
    const woke = before?.snoozedUntil !== undefined && before.snoozedUntil <= now
    const alike = was?.guard === guard && was.acting === acting && was.blind === blind && was.label === label
    if (before && alike && !woke && isNear(before.dueAt, dueAt)) return undefined
    drawn.set(guard.id, { guard, acting, blind, label })
    const view = guardView(guard, { instances, now, dueAt: dueAt && Math.round(dueAt), acting, blind })
    return same(before, view) ? undefined : view
  }

  return {
    show(facts, now) {
      const before = store.get().accounts[account]?.guards
      if (!before) return
      next = undefined
      const changed: GuardView[] = []
      let known = 0
      for (const guard of book.all()) {
        const was = before[guard.id]
        if (was) known += 1
        const view = redrawn(guard, was, facts, now)
        if (view) changed.push(view)
      }
      const gone = known === Object.keys(before).length ? [] : missing(before, book.all())
      if (changed.length === 0 && gone.length === 0) return
      store.change(draft => {
        const target = draft.accounts[account]
        if (!target) return
        for (const view of changed) target.guards[view.id] = view
        for (const id of gone) delete target.guards[id]
      })
    },
    next: () => next,
    unknownLoads({ instances }) {
      const ids = new Set(
        book
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

function missing(before: Readonly<Record<string, GuardView>>, guards: readonly Guard[]): string[] {
  const kept = new Set(guards.map(({ id }) => id))
  return Object.keys(before).filter(id => !kept.has(id))
}

function isNear(a: number | undefined, b: number | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return Math.abs(a - b) < noticeable
}
