import { BerthError } from '../../contract/problem.ts'
import type { Document } from '../storage/json-file.ts'
import type { Guard } from './guard.ts'

interface Kept {
  guards: Guard[]
  seenAt?: number
}

/** The guards of one account, as they are remembered. */
export interface GuardBook {
  all(): readonly Guard[]
  find(id: string): Guard | undefined
  /** Throws `no_such_guard`. */
  existing(id: string): Guard
  seenAt(): number | undefined
  /** Resolves once it is on disk, in the place of `instead`; rejects with `not_written` where it cannot be. */
  add(guard: Guard, instead: string | undefined): Promise<void>
  remove(id: string): Promise<void>
  /** Writes down what has become of some, on disk where that is possible. Never rejects because of it. */
  record(...guards: readonly Guard[]): Promise<void>
  /** The same for what may be lost by a kill. */
  recordSoon(guards: readonly Guard[]): void
  /** When the account was last seen. */
  saw(at: number): void
  flush(): Promise<void>
}

/** Ended guards that are kept to be read. */
const mostEnded = 50

export function openGuardBook(document: Document<Kept>): GuardBook {
  const all = () => document.get().guards
  const find = (id: string) => all().find(guard => guard.id === id)
  const withGuards = (changed: readonly Guard[]) => {
    const byId = new Map(changed.map(guard => [guard.id, guard]))
    return (kept: Kept): Kept => ({
      ...kept,
      guards: withoutOldest(kept.guards.map(guard => byId.get(guard.id) ?? guard)),
    })
  }
  return {
    all,
    find,
    existing(id) {
      const guard = find(id)
      if (!guard) throw new BerthError({ code: 'no_such_guard', message: 'That guard is no longer there.' })
      return guard
    },
    seenAt: () => document.get().seenAt,
    add: (guard, instead) =>
      document.write(kept => ({
        ...kept,
        guards: [...kept.guards.filter(({ id }) => id !== instead), guard],
      })),
    remove: id => document.write(kept => ({ ...kept, guards: kept.guards.filter(guard => guard.id !== id) })),
    record: (...guards) => document.record(withGuards(guards)),
    recordSoon: guards => document.writeSoon(withGuards(guards)),
    saw: at => document.writeSoon(kept => ({ ...kept, seenAt: at })),
    flush: document.flush,
  }
}

function withoutOldest(guards: Guard[]): Guard[] {
  const ended = guards.filter(guard => guard.ended)
  if (ended.length <= mostEnded) return guards
  const dropped = new Set(ended.slice(0, ended.length - mostEnded))
  return guards.filter(guard => !dropped.has(guard))
}
