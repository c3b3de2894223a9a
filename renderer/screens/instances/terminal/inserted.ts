/** The parts of an open xterm that inserted text needs. */
interface Receiver {
  element: HTMLElement | undefined
  textarea: HTMLTextAreaElement | undefined
  onKey(listener: () => void): unknown
  input(text: string): void
}

/** The key code of a key that an input method has handled. */
const inputMethod = 229

/**
 * Sends text that emoji pickers, dictation and other programs insert without a key to the shell. xterm does so by
 * itself, except in its screen reader mode, where each key inserts its letter, too; those are skipped here.
 */
export function takeInsertedText(xterm: Receiver): void {
  /** Whether the next inserted text belongs to a key that xterm has handled. */
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
    // xterm itself reads the inserted text at the end, but an arrow key may have moved the cursor away from there.
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
