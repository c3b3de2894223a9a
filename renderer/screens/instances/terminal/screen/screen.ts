import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { SearchAddon } from '@xterm/addon-search'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { WebglAddon } from '@xterm/addon-webgl'
import { Terminal } from '@xterm/xterm'
import type { Settings } from '../../../../../electron/contract/app/settings.ts'
import { scrollback } from '../../../../../electron/contract/instance/terminal.ts'
import { fontStack } from '../../../../features/instances/font.ts'
import { terminalTheme } from './ansi.ts'
import { boundCounts, boundedText } from './bounds.ts'
import { calmed } from './calm.ts'
import { takeInsertedText } from './inserted.ts'
import { takePlainPastes } from './pasted.ts'
import { allowCellStyles, withSheets } from './sheets.ts'

/** Without colours, a region that scrolls, lines that went by or lines that are shown. */
const clean = '\x1b[0m\x1b[r\x1b[3J\x1b[H\x1b[2J'

/** As in the settings. */
export type TerminalFont = Pick<Settings['terminal'], 'fontSize' | 'fontFamily'>

interface ScreenOptions {
  font: TerminalFont
  /** Opens a web address; nothing else is ever opened from a terminal. */
  openLink: (url: string) => void
  /** Keys that are the page's and not the shell's: answers true for those it took. */
  pageKey: (event: KeyboardEvent) => boolean
  /** The user begins to look at what went by. */
  onLookBack: () => void
}

/** The emulator of one terminal, in an element that can move about the page and keeps its content. */
export class TerminalScreen {
  readonly element = document.createElement('div')
  readonly xterm: Terminal
  readonly search = new SearchAddon()
  /**
   * Whether the second screen is left alone. tmux draws on it, and what scrolls away there is lost to the scrollback;
   * programs inside of tmux have a second screen of its making.
   */
  oneScreen = false
  readonly #fit = new FitAddon()
  readonly #text = boundedText()
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
      // What is on screen is in the page as text too, for those who hear it.
      screenReaderMode: true,
      // Its words may say another address than the one it leads to.
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

  /** Shows it in a place of the page. */
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

  /** Takes it out of the page; what it shows is kept. */
  hide(): void {
    this.#drawPlainly()
    this.element.remove()
  }

  /** Fits columns and rows to the room there is. */
  fit(): void {
    if (this.#opened && this.element.isConnected && this.element.clientHeight > 0) this.#fit.fit()
  }

  /** Shows what a shell printed; `shown` is called once it is dealt with. */
  print(bytes: Uint8Array, shown: () => void): void {
    this.xterm.write(this.#text(bytes), shown)
  }

  /** Makes it fit for another shell, below what it shows. */
  calm(): void {
    this.xterm.write(`${calmed(this.xterm.buffer.active.type === 'alternate')}\r\n`)
  }

  /** Moves what is shown up into the scrollback, before something draws over it. */
  keepShown(): void {
    this.xterm.write(`\x1b[${this.xterm.rows};1H${'\r\n'.repeat(this.xterm.rows)}\x1b[H`)
  }

  /** Puts these lines above what is shown, in the place of those there; what is shown has to be drawn anew. */
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

  /** Draws with the graphics card where there is one: a processor that plays one is far slower than xterm by itself. */
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

/** Browsers do not all heed the request for a real one, so the name of what would draw is looked at too. */
function hasGraphicsCard(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true })
  if (gl === null) return false
  const names = gl.getExtension('WEBGL_debug_renderer_info')
  const name = String(gl.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER))
  gl.getExtension('WEBGL_lose_context')?.loseContext()
  return !/swiftshader|llvmpipe|softpipe|software|microsoft basic/i.test(name)
}
