import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { SearchAddon } from '@xterm/addon-search'
import { Unicode11Addon } from '@xterm/addon-unicode11'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { WebglAddon } from '@xterm/addon-webgl'
import { Terminal } from '@xterm/xterm'
import { fontStack } from '#renderer/features/instances/font.ts'
import { scrollback } from '#shared/instance/terminal.ts'
import type { Settings } from '#shared/settings.ts'
import { terminalTheme } from './ansi.ts'

/** Resets colours and the scrolling region, and clears scrollback and screen. */
const clean = '\x1b[0m\x1b[r\x1b[3J\x1b[H\x1b[2J'

/** As in the settings. */
export type TerminalFont = Pick<Settings['terminal'], 'fontSize' | 'fontFamily'>

interface ScreenOptions {
  font: TerminalFont
  /** Opens a web address, the only kind of link that works in a terminal. */
  openLink: (url: string) => void
  /** Handles keys of the page; returns true where the key must not reach the shell. */
  pageKey: (event: KeyboardEvent) => boolean
  /** Called when the user starts to scroll back. */
  onLookBack: () => void
}

/** The emulator of one terminal, in an element that can be moved within the page and keeps its content. */
export class TerminalScreen {
  readonly element = document.createElement('div')
  readonly xterm: Terminal
  readonly search = new SearchAddon()
  /**
   * Whether switching to the alternate screen is ignored, as for tmux: it draws on that screen, whose lines never reach
   * the scrollback. Programs inside tmux get an alternate screen from tmux itself.
   */
  oneScreen = false
  readonly #fit = new FitAddon()
  readonly #text = boundedPrint()
  #webgl: WebglAddon | undefined
  #opened = false

  constructor({ font, openLink, pageKey, onLookBack }: ScreenOptions) {
    this.element.className = 'terminal-screen'
    allowCellStyles()
    const open = (url: string) => {
      if (/^https?:\/\//i.test(url)) openLink(url)
    }
    this.xterm = new Terminal({
      allowProposedApi: true,
      fontFamily: fontStack(font.fontFamily),
      fontSize: font.fontSize,
      lineHeight: 1.2,
      scrollback,
      cursorBlink: true,
      minimumContrastRatio: 4.5,
      // Repeats the screen's content as text in the page, for screen readers.
      screenReaderMode: true,
      // The text of a link may name another address than its target.
      linkHandler: {
        activate: (_, url) => open(url),
        hover: (_, url) => {
          this.element.title = URL.canParse(url) ? new URL(url).href : ''
        },
        leave: () => {
          this.element.title = ''
        },
      },
    })
    this.xterm.loadAddon(this.#fit)
    this.xterm.loadAddon(this.search)
    // Counts emoji as two cells, as tmux and programs on the instance do.
    this.xterm.loadAddon(new Unicode11Addon())
    this.xterm.unicode.activeVersion = '11'
    this.xterm.loadAddon(new WebLinksAddon((_, url) => open(url)))
    boundCounts(this.xterm)
    for (const final of ['h', 'l']) {
      this.xterm.parser.registerCsiHandler(
        { prefix: '?', final },
        params => this.oneScreen && params.some(param => param === 1049 || param === 1047 || param === 47),
      )
    }
    const lookBack = () => {
      const { viewportY, baseY } = this.xterm.buffer.active
      if (viewportY === baseY) onLookBack()
    }
    this.xterm.attachCustomKeyEventHandler(event => {
      if (event.type === 'keydown' && event.shiftKey && event.key === 'PageUp') lookBack()
      return !pageKey(event)
    })
    this.element.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && lookBack(), { passive: true })
  }

  /** Puts the terminal into an element of the page. */
  async show(place: HTMLElement): Promise<void> {
    place.append(this.element)
    if (!this.#opened) {
      await document.fonts.load('13px "JetBrains Mono Variable"').catch(() => [])
      this.#opened = true
      withSheets(() => this.xterm.open(this.element))
      takeInsertedText(this.xterm)
      takePlainPastes(this.xterm)
    }
    this.recolour()
    this.#draw()
    this.fit()
  }

  /** Takes the terminal out of the page; its content stays. */
  hide(): void {
    this.#drawPlainly()
    this.element.remove()
  }

  /** Fits columns and rows to the element's size. */
  fit(): void {
    if (this.#opened && this.element.isConnected && this.element.clientHeight > 0) this.#fit.fit()
  }

  /** Prints a shell's output; `shown` is called once it has been processed. */
  print(bytes: Uint8Array, shown: () => void): void {
    this.xterm.write(this.#text(bytes), shown)
  }

  /** Resets the terminal for another shell, which begins below the present content. */
  calm(): void {
    this.xterm.write(`${calmed(this.xterm.buffer.active.type === 'alternate')}\r\n`)
  }

  /** Moves the visible lines into the scrollback before something draws over them. */
  keepShown(): void {
    this.xterm.write(`\x1b[${this.xterm.rows};1H${'\r\n'.repeat(this.xterm.rows)}\x1b[H`)
  }

  /** Replaces the scrollback by these lines. The visible screen has to be redrawn afterwards. */
  replaceScrollback(text: string): Promise<void> {
    const lines = text.replace(/\n$/, '').split('\n')
    const shown = '\r\n'.repeat(Math.min(lines.length, this.xterm.rows))
    const drawn = `${clean}${lines.join('\r\n')}\x1b[${this.xterm.rows};1H${shown}\x1b[0m\x1b[H`
    return new Promise(resolve => this.xterm.write(drawn, resolve))
  }

  setFont({ fontSize, fontFamily }: TerminalFont): void {
    Object.assign(this.xterm.options, { fontSize, fontFamily: fontStack(fontFamily) })
    this.fit()
  }

  recolour(): void {
    this.xterm.options.theme = terminalTheme(this.element)
  }

  dispose(): void {
    this.hide()
    this.xterm.dispose()
  }

  /** Draws by WebGL on a real graphics card; one emulated in software is far slower than xterm's own renderer. */
  #draw(): void {
    if (this.#webgl || !hasGraphicsCard()) return
    try {
      const webgl = new WebglAddon()
      webgl.onContextLoss(() => this.#drawPlainly())
      withSheets(() => this.xterm.loadAddon(webgl))
      this.#webgl = webgl
    } catch {
      this.#webgl = undefined
    }
  }

  #drawPlainly(): void {
    withSheets(() => this.#webgl?.dispose())
    this.#webgl = undefined
  }
}

/** Not every browser refuses software rendering when asked to, so the renderer's name is checked, too. */
function hasGraphicsCard(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true })
  if (gl === null) return false
  const names = gl.getExtension('WEBGL_debug_renderer_info')
  const name = String(gl.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER))
  gl.getExtension('WEBGL_lose_context')?.loseContext()
  return !/swiftshader|llvmpipe|softpipe|software|microsoft basic/i.test(name)
}

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
function takePlainPastes(xterm: Receiver): void {
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

/** Leaves the alternate screen, which editors and pagers draw on. */
const leaveSecond = '\x1b[?1049l'

/**
 * The escape sequences that reset a terminal for another shell after a lost connection, which may have ended in the
 * middle of a sequence. `second`: whether the alternate screen is shown; leaving it otherwise would move the cursor to
 * its saved place.
 */
export function calmed(second: boolean): string {
  return [
    // Cancels a half-received sequence, which the next bytes would complete.
    '\x18',
    second ? leaveSecond : '',
    // Ends synchronized output, and the mode in which a line feed also returns the carriage.
    '\x1b[?2026l\x1b[20l',
    // A soft reset: colours, cursor, bracketed paste, focus reports, keypad, insert mode, origin, region, wrapping, charset.
    '\x1b[!p',
    // Mouse reporting and its encodings, which a soft reset leaves on.
    '\x1b[?1000l\x1b[?1006l',
  ].join('')
}

/** Sequences that xterm repeats as often as their count says: a letter, tabs, and inserted, deleted or scrolled lines. */
const counted = ['b', 'I', 'Z', 'L', 'M', 'S', 'T']
/** More lines or columns than any screen has. */
const most = 1000

/** Ignores absurd counts: xterm would obey them and block the page for hours. */
function boundCounts({ parser }: Pick<Terminal, 'parser'>): void {
  for (const final of counted)
    parser.registerCsiHandler({ final }, ([count]) => typeof count === 'number' && count > most)
}

/** More combining marks than a letter of any script has: drawing thousands on one letter blocks the page for seconds. */
const tooManyMarks = /([\p{M}\p{Cf}]{16})[\p{M}\p{Cf}]+/gu

/** Decodes a shell's output, with a bounded number of combining marks on a letter. */
function boundedPrint(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder()
  return bytes => {
    const text = decoder.decode(bytes, { stream: true })
    // As many letters as bytes means plain ASCII (unless it completes an earlier letter), as most output is.
    return text.length === bytes.length ? text : text.replaceAll(tooManyMarks, '$1')
  }
}

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
 * Sends text that emoji pickers, dictation and other programs insert without a key to the shell. xterm does so itself,
 * except in screen reader mode, where each key inserts its letter too; those are skipped here.
 */
function takeInsertedText(xterm: Receiver): void {
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

/**
 * xterm writes its styles into new style elements, which `default-src 'self'` blocks. While `work` runs, it gets
 * elements that pass their text to constructed style sheets instead, which the policy allows.
 */
function withSheets<Result>(work: () => Result): Result {
  const make = document.createElement
  const plain: (name: string, options?: ElementCreationOptions) => HTMLElement = make.bind(document)
  const backing = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? backed(plain('div')) : plain(name, options)
  document.createElement = backing as typeof make
  try {
    return work()
  } finally {
    document.createElement = make
  }
}

function backed(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  element.hidden = true
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}

/**
 * Without a graphics card, xterm sets a cell's own colour by the attribute `style` of a span, which the same policy
 * blocks. From now on, spans set that attribute through their property, which the policy allows.
 */
function allowCellStyles(): void {
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name, value) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
