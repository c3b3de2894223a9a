import type { Problem } from '../../../electron/contract/problem.ts'
import { onceReleased } from '../fields/onceReleased.ts'

/** A message per field. */
type Errors = Readonly<Partial<Record<string, string>>>

/** What to say at which field: all that is wrong after a try to send it, before that only at fields already left. */
export class FieldErrors {
  readonly #wrong: () => Errors
  readonly #contentOf: (field: string) => unknown
  #tried = $state(false)
  #left: readonly string[] = $state.raw([])
  #refused: { field: string; message: string; value: string } | undefined = $state.raw()

  /** `wrong` gives all that is, `contentOf` what is in a field: it stays refused until that is something else. */
  constructor(wrong: () => Errors, contentOf: (field: string) => unknown) {
    this.#wrong = wrong
    this.#contentOf = contentOf
  }

  readonly told: Errors = $derived.by(() => {
    const told = Object.entries(this.#wrong()).filter(([field]) => this.#tried || this.#left.includes(field))
    const refused = this.#refused
    if (refused && refused.value === JSON.stringify(this.#contentOf(refused.field)))
      told.push([refused.field, refused.message])
    return Object.fromEntries(told)
  })

  /** Whether it was tried to send it. */
  get tried(): boolean {
    return this.#tried
  }

  /** A field was left: from now on its mistakes are told. */
  leave(field: string): void {
    onceReleased(() => {
      if (!this.#left.includes(field)) this.#left = [...this.#left, field]
    })
  }

  /** It is to be sent: all that is wrong is told from now on, and what was refused before is not. */
  tell(): void {
    this.#tried = true
    this.#refused = undefined
  }

  /** The main process refused what is in a field. */
  refuse(field: string, { message, advice }: Problem): void {
    const value = JSON.stringify(this.#contentOf(field))
    this.#refused = { field, message: advice ? `${message} ${advice}` : message, value }
  }

  /** It was sent. */
  reset(): void {
    this.#tried = false
    this.#left = []
  }
}
