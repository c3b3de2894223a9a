import type { Problem } from '#shared/problem.ts'

/** Messages by field. */
type Errors = Readonly<Partial<Record<string, string>>>

/** The messages to show: all errors after an attempt to send, before that only those of fields that were left. */
export class FieldErrors {
  readonly #wrong: () => Errors
  readonly #contentOf: (field: string) => unknown
  #tried = $state(false)
  #left: readonly string[] = $state.raw([])
  #refused: { field: string; message: string; value: string } | undefined = $state.raw()

  /** `wrong` gives all errors, `contentOf` a field's content: a refusal holds until that changes. */
  constructor(wrong: () => Errors, contentOf: (field: string) => unknown) {
    this.#wrong = wrong
    this.#contentOf = contentOf
  }

  readonly shown: Errors = $derived.by(() => {
    const entries = Object.entries(this.#wrong()).filter(
      ([field]) => this.#tried || this.#left.includes(field),
    )
    const refused = this.#refused
    if (refused && refused.value === JSON.stringify(this.#contentOf(refused.field)))
      entries.push([refused.field, refused.message])
    return Object.fromEntries(entries)
  })

  /** Whether there was an attempt to send. */
  get tried(): boolean {
    return this.#tried
  }

  /** From now on, this field's error is shown. */
  leave(field: string): void {
    onceReleased(() => {
      if (!this.#left.includes(field)) this.#left = [...this.#left, field]
    })
  }

  /** Before sending: from now on all errors are shown, and earlier refusals are not. */
  tell(): void {
    this.#tried = true
    this.#refused = undefined
  }

  /** The main process refused a field's content. */
  refuse(field: string, { message, advice }: Problem): void {
    const value = JSON.stringify(this.#contentOf(field))
    this.#refused = { field, message: advice ? `${message} ${advice}` : message, value }
  }

  /** After sending. */
  reset(): void {
    this.#tried = false
    this.#left = []
  }
}

/** Focuses the first invalid field of the open dialog, else of the page's form, once it is drawn as invalid. */
export function focusFirstError(): void {
  requestAnimationFrame(() => {
    const form = document.querySelector('[role=dialog]') ?? document.querySelector('main form')
    form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  })
}

/**
 * Runs something once no pointer is pressed. An error that appears when a field is left moves the content below it, and
 * a button that moves between press and release is not clicked.
 */
function onceReleased(run: () => void): void {
  if (!document.querySelector(':active')) {
    run()
    return
  }
  const aborter = new AbortController()
  const released = () => {
    aborter.abort()
    setTimeout(run)
  }
  for (const end of ['pointerup', 'pointercancel'])
    window.addEventListener(end, released, { signal: aborter.signal, capture: true })
}
