/**
 * Runs something once no pointer is pressed. An error that appears when a field is left moves the content below it, and
 * a button that moves between press and release is not clicked.
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
