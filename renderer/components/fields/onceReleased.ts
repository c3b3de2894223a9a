/**
 * Does something once no pointer is pressed. What appears as a field is left moves what is under it, and a button that
 * moves between press and release is not clicked.
 */
export function onceReleased(run: () => void): void {
  if (!document.querySelector(':active')) {
    run()
    return
  }
  const over = new AbortController()
  const released = () => {
    over.abort()
    setTimeout(run)
  }
  for (const end of ['pointerup', 'pointercancel'])
    window.addEventListener(end, released, { signal: over.signal, capture: true })
}
