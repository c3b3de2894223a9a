import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** Where the lists were scrolled to when they were left, by their names; read with the first list. */
let places: Map<string, number> | undefined

const placesKey = 'berth-places'

/** A page that is loaded anew has them from before. Others leave sessionStorage alone, whose first use takes time. */
function keptPlaces(): Map<string, number> {
  if (places) return places
  const [loading] = performance.getEntriesByType('navigation')
  const isReload = loading instanceof PerformanceNavigationTiming && loading.type === 'reload'
  const found = new Map<string, number>(
    Object.entries(JSON.parse((isReload && sessionStorage.getItem(placesKey)) || '{}')),
  )
  window.addEventListener('pagehide', () =>
    sessionStorage.setItem(placesKey, JSON.stringify(Object.fromEntries(found))),
  )
  places = found
  return found
}

/** Lets a list begin at its top when it's shown next: it will list something else. */
export function beginAtTop(name: string): void {
  keptPlaces().delete(name)
}

/**
 * Lets a scrolling list begin where it was left. `unit`: the pixels in which its place is kept, such as the height of its
 * rows where that changes. What is drawn later is waited for, until the user scrolls.
 */
export function keepScroll(name: string, unit: () => number = () => 1): Attachment<HTMLElement> {
  return area => {
    const places = keptPlaces()
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
