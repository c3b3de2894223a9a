import type { GuardView } from '../../../contract/automation/guard.ts'
import type { AccountId } from '../../../contract/ids.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { AccountView } from '../../../contract/state.ts'
import { same } from '../../state/same.ts'
import type { Store } from '../../state/store.ts'
import type { Collection } from '../../storage/collection.ts'
import { dueOf } from '../decide/moment.ts'
import { nextMoment } from '../decide/next-moments.ts'
import type { Facts } from '../kinds.ts'
import type { Guard } from '../model.ts'
import { createHeldViews } from './held-views.ts'
import { blindness, guardView } from './view.ts'

/** An account's guards in State. */
export interface ShownGuards {
  /** Writes what has changed. A moment that moved by seconds has not. */
  show(facts: Facts, now: number): void
  /** The next moment at which something is to be done, epoch seconds of the account's time. */
  next(): number | undefined
  /** Running instances with a guard on their GPU load, which the service does not tell. */
  unknownLoads(account: Pick<AccountView, 'instances'>): InstanceView[]
}

/** Seconds by which a moment must move to be written again, as long as it is far: the nearer, the more exact it is. */
const noticeable = 30
/** The part of what is left until then that is noticeable, too; never less than a second. */
const noticeablePart = 0.05

/** A view that is shown, and what it was made from. */
interface Line {
  guard: Guard
  acting: boolean
  blind: string | undefined
  label: string | undefined
  view: GuardView
}

export function createShownGuards({
  store,
  account,
  guards: stored,
  busy,
}: {
  store: Store
  account: AccountId
  guards: Pick<Collection<Guard, string>, 'all'>
  busy: ReadonlySet<string>
}): ShownGuards {
  const lines = new Map<string, Line>()
  const held = createHeldViews()
  let shownAt = Number.NEGATIVE_INFINITY
  /** The guards in State as they were written last. */
  let shown: Readonly<Record<string, GuardView>> | undefined
  let next = Number.POSITIVE_INFINITY

  /** Its line: the one there was where that says the same. */
  function lineOf(guard: Guard, dueAt: number | undefined, acting: boolean, facts: Facts, now: number): Line {
    const { instances } = facts.account
    const instance = instances[guard.instance ?? '']
    const problem = blindness(guard, facts, now)
    const blind = problem?.message
    const label = instance?.label
    const was = lines.get(guard.id)
    const before = was?.view ?? shown?.[guard.id]
    const woke = before?.snoozedUntil !== undefined && before.snoozedUntil <= now
    const alike = was?.guard === guard && was.acting === acting && was.blind === blind && was.label === label
    if (alike && !woke && isNear(was.view.dueAt, dueAt, now)) return was
    const view = guardView(guard, {
      instances,
      now,
      dueAt: dueAt && Math.round(dueAt),
      acting,
      blind: problem,
    })
    const line = { guard, acting, blind, label, view: before && same(before, view) ? before : view }
    lines.set(guard.id, line)
    return line
  }

  return {
    show(facts, now) {
      const before = store.get().accounts[account]?.guards
      if (!before) return
      // What another wrote, or is told of an earlier time, is compared anew.
      if (before !== shown || now < shownAt) held.cut(0)
      if (before !== shown) lines.clear()
      shown = before
      shownAt = now
      next = Number.POSITIVE_INFINITY
      const guards = stored.all()
      const { instances } = facts.account
      let known = held.size() === guards.length
      const changed: GuardView[] = []
      guards.forEach((guard, place) => {
        const instance = guard.instance === undefined ? undefined : instances[guard.instance]
        const acting = busy.has(guard.id)
        const until = acting ? undefined : held.until(place, guard, instance, now)
        if (until !== undefined) {
          next = Math.min(next, until)
          return
        }
        known &&= held.was(place, guard)
        const dueAt = guard.ended ? undefined : dueOf(guard, facts)
        // While it acts, or its instance is not in the answer, the end of that is waited for.
        const waits = !acting && (guard.instance === undefined || instance !== undefined)
        const moment = (waits ? nextMoment(guard, dueAt, now) : undefined) ?? Number.POSITIVE_INFINITY
        next = Math.min(next, moment)
        const { view } = lineOf(guard, dueAt, acting, facts, now)
        if (view !== before[guard.id]) changed.push(view)
        const asleep = view.snoozedUntil ?? moment
        held.hold(
          place,
          guard,
          instance,
          acting || isUnsteady(guard, instance) || !isExact(view.dueAt, dueAt)
            ? now
            : Math.min(moment, asleep),
        )
      })
      held.cut(guards.length)
      const gone = known ? [] : missing(before, guards)
      for (const id of gone) lines.delete(id)
      if (changed.length === 0 && gone.length === 0) return
      store.change(draft => {
        const target = draft.accounts[account]
        if (!target) return
        for (const view of changed) target.guards[view.id] = view
        for (const id of gone) delete target.guards[id]
      })
      shown = store.get().accounts[account]?.guards
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

/** Whether what is shown follows from more than the guard and its instance: the whole account, or what is asked inside. */
function isUnsteady({ condition }: Guard, instance: InstanceView | undefined): boolean {
  return instance === undefined || (condition.kind === 'idle' && instance.gpuLoad === undefined)
}

function missing(before: Readonly<Record<string, GuardView>>, guards: readonly Guard[]): string[] {
  const kept = new Set(guards.map(({ id }) => id))
  return Object.keys(before).filter(id => !kept.has(id))
}

function isNear(a: number | undefined, b: number | undefined, now: number): boolean {
  if (a === undefined || b === undefined) return a === b
  return Math.abs(a - b) < Math.min(noticeable, Math.max(1, (b - now) * noticeablePart))
}

/** What is not may come to be too far from the moment as that draws near, though nothing changes. */
function isExact(a: number | undefined, b: number | undefined): boolean {
  return a === undefined || b === undefined || Math.abs(a - b) < 1
}
