/** Runs `act` once after so many milliseconds; gives what calls it off. */
export type After = (milliseconds: number, act: () => void) => () => void

/** Something that is done in a moment, unless it is undone. */
export interface Undoable {
  id: number
  /** Whom it is done to: one thing at a time. */
  key: string
  /** What is about to happen: `Stopping llama`. */
  title: string
  /** Said once it was undone: `llama keeps running.` */
  undone: string
  act: () => unknown
}

/** One that is not sent yet, and the seconds that are left to undo it. */
export type Waiting = Undoable & { seconds: number }

/** Seconds in which it can be undone. */
const secondsToUndo = 5

/** What was asked for and is not sent yet. Nothing of it is lost: what waits when the page goes is sent then. */
export class Undoables {
  #all: readonly Waiting[] = []
  readonly #after: After
  readonly #changed: (all: readonly Waiting[]) => void
  readonly #callOff = new Map<number, () => void>()
  #lastId = 0

  /** `changed` is given what waits, oldest first, at every change. */
  constructor(after: After, changed: (all: readonly Waiting[]) => void) {
    this.#after = after
    this.#changed = changed
  }

  /** Does it in five seconds. While something waits for the same key, nothing else is begun. */
  begin(wanted: Omit<Undoable, 'id'>): void {
    if (this.#all.some(({ key }) => key === wanted.key)) return
    const id = ++this.#lastId
    this.#set([...this.#all, { ...wanted, id, seconds: secondsToUndo }])
    this.#tick(id)
  }

  /** Calls it off; gives what was undone. Without `id`, the newest. */
  undo(id = this.#all.at(-1)?.id): Undoable | undefined {
    const found = this.#all.find(one => one.id === id)
    if (found) this.#drop(found.id)
    return found
  }

  /** Does what waits at once. */
  sendAll(): void {
    for (const { id, act } of this.#all) {
      this.#drop(id)
      act()
    }
  }

  #tick(id: number): void {
    const callOff = this.#after(1000, () => {
      const one = this.#all.find(each => each.id === id)
      if (!one) return
      if (one.seconds > 1) {
        this.#set(this.#all.map(each => (each.id === id ? { ...each, seconds: each.seconds - 1 } : each)))
        return this.#tick(id)
      }
      this.#drop(id)
      one.act()
    })
    this.#callOff.set(id, callOff)
  }

  #drop(id: number): void {
    this.#callOff.get(id)?.()
    this.#callOff.delete(id)
    this.#set(this.#all.filter(one => one.id !== id))
  }

  #set(all: readonly Waiting[]): void {
    this.#all = all
    this.#changed(all)
  }
}
