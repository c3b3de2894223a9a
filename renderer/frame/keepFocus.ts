/** Elements that may take the focus: never a destructive one, since a key meant for another element may come next. */
const reachable =
  'a[href], button:enabled:not([aria-label^="Destroy"]), input:enabled, textarea:enabled, select:enabled, [tabindex="0"]'

/** Where a removed element was: its ancestors from the inside out, with the index in each. */
interface FocusPlace {
  element: HTMLElement
  steps: readonly { parent: Element; at: number }[]
  /** Its index among the focusable elements beside it, counted from the end. */
  fromEnd: number
}

/**
 * Keeps the keyboard's place: when the focused element is removed, the one that takes its place gets the focus, and
 * after a removed row the next row. Watches `root`; returns the function that stops it.
 */
export function keepFocus(root: HTMLElement): () => void {
  let lastPlace: FocusPlace | undefined
  let frame = 0

  const follow = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement && root.contains(target)) lastPlace = focusPlace(target, root)
  }
  // A click elsewhere gives the place up.
  const leave = () => {
    lastPlace = undefined
  }
  const restore = () => {
    frame = 0
    if (!lastPlace || lastPlace.element.isConnected) return
    const { activeElement } = document
    if (activeElement && activeElement !== document.body) return
    const next = inPlaceOf(lastPlace)
    lastPlace = undefined
    next?.focus({ preventScroll: true })
  }
  // A closing dialog restores the focus first.
  const changes = new MutationObserver(() => {
    if (lastPlace && !lastPlace.element.isConnected) frame ||= requestAnimationFrame(restore)
  })
  changes.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', follow)
  document.addEventListener('pointerdown', leave, { capture: true })
  return () => {
    cancelAnimationFrame(frame)
    changes.disconnect()
    document.removeEventListener('focusin', follow)
    document.removeEventListener('pointerdown', leave, { capture: true })
  }
}

function focusPlace(element: HTMLElement, root: HTMLElement): FocusPlace {
  const steps: { parent: Element; at: number }[] = []
  for (let inner: Element = element; inner !== root; ) {
    const parent = inner.parentElement
    if (!parent) break
    steps.push({ parent, at: [...parent.children].indexOf(inner) })
    inner = parent
  }
  const beside = among(element.closest('li, tr, [role=listitem], [data-item]') ?? element)
  return { element, steps, fromEnd: beside.length - beside.indexOf(element) }
}

function inPlaceOf({ steps, fromEnd }: FocusPlace): HTMLElement | undefined {
  for (const { parent, at } of steps) {
    if (!parent.isConnected) continue
    const { children } = parent
    // Another screen: keys begin at its top.
    if (parent instanceof HTMLElement && parent.matches('main')) return parent
    for (const place of [children[at], children[at - 1], parent]) {
      const list = place ? among(place) : []
      const alike = place === parent ? undefined : list.at(-fromEnd)
      const next = alike ?? list[0]
      if (next) return next
    }
  }
  return undefined
}

function among(element: Element): HTMLElement[] {
  const all = [...element.querySelectorAll<HTMLElement>(reachable)]
  if (element instanceof HTMLElement && element.matches(reachable)) all.unshift(element)
  return all.filter(each => each.checkVisibility())
}
