import type { Page } from '#renderer/berth/page.svelte.ts'
import { route } from '#renderer/berth/route.svelte.ts'

/**
 * Tells the main process which screen the user sees, so that nothing visible is raised as a notification, too, and
 * whether quitting would lose text.
 */
class Reporting {
  #focused = $state(false)

  /** Follows the window's focus; returns the function that stops it. */
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

  /** Reports again after each change, and after a reconnect. */
  report(page: Page): void {
    if (page.reach !== 'connected') return
    const instance = route.screen === 'instances' ? Number(route.rest[0]) : Number.NaN
    const place = {
      focused: this.#focused,
      screen: route.screen.slice(0, 32),
      instance: Number.isSafeInteger(instance) && instance > 0 ? instance : undefined,
      unsaved: page.isUnsaved,
    }
    // Without the report, the user gets a notification too many, or no question before quitting.
    page.berth.reportPlace(place).catch(() => undefined)
  }
}

export const reporting = new Reporting()
