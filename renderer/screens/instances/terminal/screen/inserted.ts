/** What inserted text needs of xterm, once it is open. */
interface Receiver {
  element: HTMLElement | undefined
  textarea: HTMLTextAreaElement | undefined
  onKey(listener: () => void): unknown
  input(text: string): void
}

/** The code of a key that an input method took. */
const inputMethod = 229

/**
 * Gives the shell what emoji pickers, dictation and other programs insert as text, without any key. xterm takes that
 * up by itself, but not in its mode for screen readers, where each key inserts its letter too: that is left out here.
 */
export function takeInsertedText(xterm: Receiver): void {
  /** Whether what is inserted next belongs to a key, which xterm has dealt with. */
  let keyed = false
  const listen = <Name extends 'keydown' | 'keyup' | 'focus' | 'input'>(
    name: Name,
    heard: (event: HTMLElementEventMap[Name]) => void,
  ) => xterm.element?.addEventListener(name, heard, { capture: true }) // before xterm hears of it
  xterm.onKey(() => {
    keyed = true
  })
  listen('keydown', ({ keyCode }) => {
    keyed = keyCode === inputMethod
    // xterm looks by itself what became of the text, at its end: an arrow key may have led away from there.
    const { textarea } = xterm
    if (keyed) textarea?.setSelectionRange(textarea.value.length, textarea.value.length)
  })
  listen('keyup', () => {
    keyed = false
  })
  listen('focus', () => {
    keyed = false
  })
  listen('input', event => {
    if (!(event instanceof InputEvent) || event.inputType !== 'insertText' || event.isComposing) return
    if (event.data && !keyed) xterm.input(event.data.replaceAll(/\r?\n/g, '\r'))
    keyed = false
  })
}
