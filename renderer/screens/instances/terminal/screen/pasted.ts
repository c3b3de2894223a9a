/** The parts of an open xterm that a paste needs. */
interface Receiver {
  element: HTMLElement | undefined
  paste(text: string): void
}

/** Control characters, except tabs and line ends. */
const acting = /(?![\t\r\n])\p{Cc}/gu

/**
 * Removes control characters from pastes. Text copied from a web page may contain the end of a bracketed paste with a
 * command behind it, which the shell would run as if it were typed: xterm passes it on unchanged.
 */
export function takePlainPastes(xterm: Receiver): void {
  xterm.element?.addEventListener(
    'paste',
    event => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      const plain = text.replaceAll(acting, '')
      if (plain === text) return
      event.preventDefault()
      event.stopImmediatePropagation()
      xterm.paste(plain)
    },
    { capture: true }, // before xterm hears of it
  )
}
