import type { Patches } from 'mutative'
import type { MainMessage } from '#contract/messages.ts'
import type { State } from '#shared/state.ts'

type StateMessage = Extract<MainMessage, { kind: 'state' | 'patch' }>

/** The page's copy of State, kept up to date by patches. Parts that a patch does not touch keep their identity. */
export class Replica {
  state: State | undefined
  #sequence = 0
  #asked = false

  /** Applies a message. `missed` means that a patch was lost and the whole State must be requested. */
  take(message: StateMessage): 'changed' | 'unchanged' | 'missed' {
    if (message.kind === 'state') {
      this.state = message.state
      this.#sequence = message.sequence
      this.#asked = false
      return 'changed'
    }
    if (this.#asked || !this.state || message.sequence <= this.#sequence) return 'unchanged'
    if (message.sequence !== this.#sequence + 1) return this.#miss()
    try {
      this.state = applyPatches(this.state, message.patches)
    } catch {
      return this.#miss()
    }
    this.#sequence = message.sequence
    return 'changed'
  }

  #miss(): 'missed' {
    this.#asked = true
    return 'missed'
  }
}

type Container = Record<string | number, unknown>

/**
 * The value after patches of mutative's `create`; the parts they do not touch keep their identity. Throws where a patch
 * has no place in it. In the page's own lines, since mutative would be a sixteenth of what the page loads first.
 */
export function applyPatches<Value extends object>(value: Value, patches: Patches): Value {
  const copies = new Set<object>()
  /** The value itself where it is a copy already, else a copy. */
  const copied = (of: unknown): Container => {
    if (typeof of !== 'object' || of === null) throw new Error('a patch has no place')
    if (copies.has(of)) return of as Container
    const copy = Array.isArray(of) ? [...of] : { ...of }
    copies.add(copy)
    return copy as Container
  }
  const whole = copied(value)
  for (const { op, path, value } of patches) {
    let at = whole
    for (const key of path.slice(0, -1)) {
      if (!Object.hasOwn(at, key)) throw new Error('a patch has no place')
      at = at[key] = copied(at[key])
    }
    const last = path.at(-1) ?? ''
    if (op === 'remove') delete at[last]
    else at[last] = value
  }
  return whole as Value
}
