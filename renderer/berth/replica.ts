import type { MainMessage } from '#contract/messages.ts'
import type { State } from '#contract/state.ts'
import { applyPatches } from './applyPatches.ts'

type StateMessage = Extract<MainMessage, { kind: 'state' | 'patch' }>

/** The page's copy of State, kept up to date by patches. Parts that a patch does not touch keep their identity. */
export class Replica {
  state: State | undefined
  #sequence = 0
  #asked = false

  /** Applies a message. `missed` means that a patch was lost, and the whole State has to be asked for. */
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
