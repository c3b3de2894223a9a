import { BerthError } from '../../../contract/problem.ts'
import { present } from '../../state/present.ts'
import type { Document } from '../../storage/json-file.ts'
import type { Failover, Try } from './attempts-model.ts'

/** What may be changed of a failover; a field that is given as undefined goes. */
export type FailoverChange = { [Field in keyof Failover]?: Failover[Field] | undefined }
type TryChange = { [Field in keyof Try]?: Try[Field] | undefined }

/** The failovers of one account, as they are remembered. */
export interface FailoverBook {
  all(): readonly Failover[]
  find(id: string): Failover | undefined
  /** Throws `no_such_failover`. */
  existing(id: string): Failover
  /** Resolves once it is on disk; rejects with `not_written` where it cannot be, and then it is not in the book. */
  add(failover: Failover): Promise<void>
  /** Writes down what has happened, on disk where that is possible. Never rejects because of it. */
  update(id: string, change: FailoverChange): Promise<Failover>
  /** The same for one of its tries. */
  updateTry(id: string, rental: string, change: TryChange): Promise<Failover>
}

/** Failovers remembered after their end. */
const mostEnded = 50

/** `changed` is called after every change. */
export function openFailoverBook(document: Document<Failover[]>, changed: () => void): FailoverBook {
  const find = (id: string) => document.get().find(failover => failover.id === id)

  function existing(id: string): Failover {
    const failover = find(id)
    if (!failover)
      throw new BerthError({ code: 'no_such_failover', message: 'That failover is no longer on the list.' })
    return failover
  }

  async function change(id: string, edit: (failover: Failover) => Failover): Promise<Failover> {
    const recorded = document.record(all => all.map(each => (each.id === id ? edit(each) : each)))
    changed()
    await recorded
    return existing(id)
  }

  return {
    all: document.get,
    find,
    existing,
    async add(failover) {
      await document.write(all => [...prune(all), failover])
      changed()
    },
    update: (id, fields) => change(id, failover => present({ ...failover, ...fields }) as Failover),
    updateTry: (id, rental, fields) =>
      change(id, failover => ({
        ...failover,
        tries: failover.tries.map(each =>
          each.rental === rental ? (present({ ...each, ...fields }) as Try) : each,
        ),
      })),
  }
}

function prune(failovers: readonly Failover[]): Failover[] {
  const ended = failovers.filter(({ step }) => step !== 'trying')
  const dropped = new Set(ended.slice(0, Math.max(0, ended.length - mostEnded)).map(({ id }) => id))
  return failovers.filter(({ id }) => !dropped.has(id))
}
