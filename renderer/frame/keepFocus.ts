/** Never what destroys: a key that was meant for something else may be on its way. */
const reachable =
  'a[href], button:enabled:not([aria-label^="Destroy"]), input:enabled, textarea:enabled, select:enabled, [tabindex="0"]'

/** Where something stood: what was around it, from the inside out, and as which child. */
interface FocusPlace {
  element: HTMLElement
  steps: readonly { parent: Element; at: number }[]
  /** Of what could be reached beside it, counted from the end. */
  fromEnd: number
}

/**
 * Keys go on from where they were: when what has the focus is taken off the page, what stands in its place has it.
 * A row that is gone leaves it to the next one. Follows `root`; gives the function that ends this.
 */
export function keepFocus(root: HTMLElement): () => void {
  let held: FocusPlace | undefined
  let frame = 0

  const follow = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement && root.contains(target)) held = focusPlace(target, root)
  }
  // Who points elsewhere has left it.
  const leave = () => {
    held = undefined
  }
  const restore = () => {
    frame = 0
    if (!held || held.element.isConnected) return
    const { activeElement } = document
    if (activeElement && activeElement !== document.body) return
    const next = inPlaceOf(held)
    held = undefined
    next?.focus({ preventScroll: true })
  }
  // A dialog that closes gives the focus back first.
  const changes = new MutationObserver(() => {
    if (held && !held.element.isConnected) frame ||= requestAnimationFrame(restore)
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
