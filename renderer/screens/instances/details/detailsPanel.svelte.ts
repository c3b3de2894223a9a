import type { Page } from '#renderer/bridge/page.svelte.ts'

/** Height in pixels below which a window has no room for both the table and the panel. */
const smallWindow = 600

/** The size of the panel with an instance's details. */
export class DetailsPanel {
  readonly least = 120
  readonly #page: Page
  /** Height in pixels that the user chose since the panel was opened. */
  #given: number | undefined = $state()
  /** Whether the user maximised it, in a window that has room for both. */
  #wide = $state(false)
  /** Height of the window in pixels. */
  room = $state(window.innerHeight)
  readonly most = $derived.by(() => Math.max(140, this.room - 300))
  /** Whether the window is so small that the panel covers the screen. */
  readonly small = $derived.by(() => this.room < smallWindow)
  readonly isMaximised = $derived.by(() => this.small || this.#wide)
  readonly height = $derived.by(() => {
    const height = this.#given ?? (this.#page.state?.settings.detailsHeight || usual)
    return Math.max(this.least, Math.min(height, this.most))
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

/** The default height, which has room for a screenful of a shell. */
const usual = Math.max(232, Math.round(window.innerHeight * 0.55))
