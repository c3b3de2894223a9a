import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** Where the lists were scrolled to when they were left, by their names. */
const places = new Map<string, number>()

/**
 * Lets a scrolling list begin where it was left. `unit`: the pixels in which its place is kept, such as the height of its
 * rows where that changes. What is drawn later is waited for, until the user scrolls.
 */
export function keepScroll(name: string, unit: () => number = () => 1): Attachment<HTMLElement> {
  return area => {
    let wanted = places.get(name)
    const drawn = new MutationObserver(restore)
    const end = () => {
      wanted = undefined
      drawn.disconnect()
    }
    function restore() {
      if (wanted === undefined) return
      const top = wanted * untrack(unit)
      area.scrollTop = top
      if (Math.abs(area.scrollTop - top) <= 1) end()
    }
    const scrolled = () => {
      if (wanted === undefined) places.set(name, area.scrollTop / unit())
    }
    restore()
    if (wanted !== undefined) drawn.observe(area, { childList: true, subtree: true })
    area.addEventListener('scroll', scrolled, { passive: true })
    const byUser = ['wheel', 'pointerdown', 'keydown'] as const
    for (const kind of byUser) area.addEventListener(kind, end, { passive: true })
    return () => {
      end()
      area.removeEventListener('scroll', scrolled)
      for (const kind of byUser) area.removeEventListener(kind, end)
    }
  }
}
