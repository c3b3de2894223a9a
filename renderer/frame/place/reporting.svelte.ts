import type { Page } from '../../berth/page.svelte.ts'
import { route } from '../../place/route.svelte.ts'

/** Tells the main process what the user has before them: what this page shows anyway is not told by a notification. */
class Reporting {
  #focused = $state(false)

  /** Follows the window's focus; gives the function that ends it. */
  run(): () => void {
    const follow = () => {
      this.#focused = document.hasFocus() && !document.hidden
    }
    follow()
    const of = [
      [window, 'focus'],
      [window, 'blur'],
      [document, 'visibilitychange'],
    ] as const
    for (const [target, event] of of) target.addEventListener(event, follow)
    return () => {
      for (const [target, event] of of) target.removeEventListener(event, follow)
    }
  }

  /** Once more whenever something of it changes, and to a main process that is there again. */
  report(page: Page): void {
    if (page.reach !== 'connected') return
    const instance = route.screen === 'instances' ? Number(route.rest[0]) : Number.NaN
    const place = {
      focused: this.#focused,
      screen: route.screen.slice(0, 32),
      instance: Number.isSafeInteger(instance) && instance > 0 ? instance : undefined,
    }
    // A main process that does not want to know tells a little more than it has to.
    page.berth.reportPlace(place).catch(() => undefined)
  }
}

export const reporting = new Reporting()
