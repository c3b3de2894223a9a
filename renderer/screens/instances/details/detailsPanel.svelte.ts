import type { Page } from '../../../berth/page.svelte.ts'

/** Pixels below which a window has no room for the table and the panel one above the other. */
const smallWindow = 600

/** How large the panel of an instance's details is. */
export class DetailsPanel {
  readonly least = 120
  readonly #page: Page
  /** Pixels that the user has given it, if this page was not left since. */
  #given: number | undefined = $state()
  /** It has all of the screen, in a window that has room for both. */
  #wide = $state(false)
  /** Pixels of the window. */
  room = $state(window.innerHeight)
  readonly most = $derived.by(() => Math.max(140, this.room - 300))
  /** Then it has all of the screen. */
  readonly small = $derived.by(() => this.room < smallWindow)
  readonly isMaximised = $derived.by(() => this.small || this.#wide)
  readonly height = $derived.by(() => {
    const wanted = this.#given ?? (this.#page.state?.settings.detailsHeight || usual)
    return Math.max(this.least, Math.min(wanted, this.most))
  })

  constructor(page: Page) {
    this.#page = page
  }

  maximise(wide: boolean): void {
    this.#wide = wide
  }

  resize(height: number): void {
    this.#given = height
  }

  keepHeight(): void {
    const detailsHeight = Math.round(this.height)
    if (this.#given !== undefined && detailsHeight !== this.#page.state?.settings.detailsHeight)
      void this.#page.attempt(this.#page.berth.changeSettings({ settings: { detailsHeight } }))
  }
}

/** At first, room for a screenful of a shell. */
const usual = Math.max(232, Math.round(window.innerHeight * 0.55))
