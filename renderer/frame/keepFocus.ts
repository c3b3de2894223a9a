/** Elements that may take the focus: never a destructive one, since a key meant for another element may come next. */
const reachable =
  'a[href], button:enabled:not([aria-label^="Destroy"]), input:enabled, textarea:enabled, select:enabled, [tabindex="0"]'
/** What stands once for each entry of a list. */
const entries = 'li, tr, [role=listitem], [data-item]'

/** Where an element was: its ancestors from the inside out, with the index in each. */
interface FocusPlace {
  element: HTMLElement
  steps: readonly { parent: Element; at: number }[]
  /** Its index among the focusable elements beside it, counted from the end. */
  fromEnd: number
  /** Of an element in details: these, and the link of the opened entry in their list, which counts once they are gone. */
  listed?: { details: Element; place: FocusPlace } | undefined
}

/**
 * Keeps the keyboard's place: when the focused element is removed, the one that takes its place gets the focus, and
 * after a removed row the next row; one that its list has moved keeps it. Watches `root`; returns the function that
 * stops it.
 */
export function keepFocus(root: HTMLElement): () => void {
  let last: FocusPlace | undefined
  /** Whether its element was removed or moved. */
  let isLost = false
  let frame = 0

  const follow = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement && root.contains(target))) return
    last = focusPlace(target, root)
    isLost = false
  }
  // A click elsewhere gives the place up, but not one that answers a dialog that was opened from there.
  const leave = ({ target }: PointerEvent) => {
    if (target instanceof Node && root.contains(target) && !last?.element.contains(target)) last = undefined
  }
  const restore = () => {
    frame = 0
    const { activeElement } = document
    if (!last || !isLost || (activeElement && activeElement !== document.body)) return
    const next = last.element.isConnected ? last.element : inPlaceOf(last)
    last = undefined
    next?.focus({ preventScroll: true })
  }
  // A closing dialog restores the focus first.
  const changes = new MutationObserver(records => {
    if (!last) return
    const { element } = last
    isLost ||= !element.isConnected || isMoved(element, records)
    if (last.listed?.details.isConnected === false) last = last.listed.place
    if (last.element.isConnected) last = { ...last, listed: undefined, ...whereIs(last.element, root) }
    if (isLost) frame ||= requestAnimationFrame(restore)
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

/** A list that draws only the visible rows lets its own elements show others, and moves the focus itself. */
function isMoved(element: HTMLElement, records: readonly MutationRecord[]): boolean {
  return (
    records.some(({ removedNodes }) => [...removedNodes].some(node => node.contains(element))) &&
    element.closest('[aria-rowcount]') === null
  )
}

function focusPlace(element: HTMLElement, root: HTMLElement): FocusPlace {
  const beside = among(element.closest(entries) ?? element)
  return { element, ...whereIs(element, root), fromEnd: beside.length - beside.indexOf(element) }
}

function whereIs(element: HTMLElement, root: HTMLElement): Pick<FocusPlace, 'steps' | 'listed'> {
  const steps: { parent: Element; at: number }[] = []
  for (let inner: Element = element; inner !== root; ) {
    const parent = inner.parentElement
    if (!parent) break
    steps.push({ parent, at: [...parent.children].indexOf(inner) })
    inner = parent
  }
  const details = element.closest('[data-details]')
  const link = details?.parentElement?.querySelector<HTMLElement>('[aria-current=true] a[href]')
  if (!details || !link || details.contains(link)) return { steps }
  return { steps, listed: { details, place: { element: link, ...whereIs(link, root), fromEnd: 1 } } }
}

function inPlaceOf({ element, steps, fromEnd }: FocusPlace): HTMLElement | undefined {
  const isLink = element.matches('a')
  for (const { parent, at } of steps) {
    if (!parent.isConnected) continue
    const { children } = parent
    // Another screen: keys begin at its top.
    if (parent instanceof HTMLElement && parent.matches('main')) return parent
    const isEntry = parent.matches(entries)
    for (const place of isEntry ? [parent] : [children[at], children[at - 1], parent]) {
      const list = place ? among(place) : []
      const link = list.find(one => one.matches('a'))
      const alike = isLink ? link : place === parent && !isEntry ? undefined : list.at(-fromEnd)
      const next = alike ?? link ?? list[0]
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
