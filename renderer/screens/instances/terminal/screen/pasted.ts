/** What a paste takes of xterm, once it is open. */
interface Receiver {
  element: HTMLElement | undefined
  paste(text: string): void
}

/** All that acts instead of being text; tabs and line ends are both. */
const acting = /(?![\t\r\n])\p{Cc}/gu

/**
 * Keeps a paste text. What was copied from a page may hold the end of a marked paste, with a command behind it that the
 * shell would take for typed: xterm gives it on as it is.
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
