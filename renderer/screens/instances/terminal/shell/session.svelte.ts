import { defaultSettings } from '../../../../../electron/contract/app/settings.ts'
import type { OpenedTerminal } from '../../../../../electron/contract/instance/terminal.ts'
import type { Problem } from '../../../../../electron/contract/problem.ts'
import { copyText } from '../../../../berth/clipboard.ts'
import { type Page, problemOf } from '../../../../berth/page.svelte.ts'
import type { PageStream } from '../../../../berth/stream.ts'
import type { TerminalScreen } from '../screen/screen.ts'
import { type PageKey, pageKeyOf } from './keys.ts'
import { retryIn, wantsUser } from './retry.ts'
import { Typing } from './typing.ts'

/** Milliseconds within which what comes is taken for what was asked to be drawn anew. */
const redrawTime = 1000

interface Hooks {
  /** Goes on with that shell in tmux. */
  session?: string
  /** A new shell, even where one goes on without anybody. */
  fresh?: boolean
  /** A key that is about the tabs and panes. */
  onKey: (key: PageKey) => void
  /** Further shells were found that go on without anybody. */
  onOthers: (names: readonly string[]) => void
  /** The shell ended by itself. */
  onExit: (session: TerminalSession) => void
}

/** One shell on one instance: its screen stays when the connection goes and comes, or the page shows other things. */
export class TerminalSession {
  readonly instance: number
  status: 'connecting' | 'open' | 'ended' = $state('connecting')
  /** Why it ended, until it is connected again; absent when the shell itself did. */
  problem: Problem | undefined = $state.raw()
  /** Where it is connected: `root@host:port`, and whether directly. */
  where: Pick<OpenedTerminal, 'address' | 'direct' | 'hostKey'> | undefined = $state.raw()
  /** Its name in the instance's tmux, where it lives there. */
  kept: string | undefined = $state()
  /** When it connects again by itself, in epoch milliseconds. */
  retryAt: number | undefined = $state()
  searching = $state(false)
  /** How often its scrollback was made whole. */
  caughtUp = $state(0)
  screen: TerminalScreen | undefined = $state.raw()
  /** The focus leaves for the row. */
  onLeave: () => void = () => {}

  readonly #page: Page
  readonly #account: string
  readonly #hooks: Hooks
  #stream: PageStream | undefined
  #tries = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #disposed = false
  #opening = false
  /** Whether there was a shell on its screen before. */
  #connected = false
  /** Whether something was drawn since the scrollback was last as tmux has it, at that time in epoch milliseconds. */
  #missing = false
  #caughtUpAt = 0

  constructor(page: Page, account: string, instance: number, hooks: Hooks) {
    this.#page = page
    this.#account = account
    this.instance = instance
    this.#hooks = hooks
    this.kept = hooks.session
  }

  get #on() {
    return { account: this.#account, instance: this.instance }
  }

  /** Shows its screen in a place of the page, and connects when it is not. */
  async show(place: HTMLElement, focus: boolean): Promise<void> {
    if (!this.screen) {
      const { TerminalScreen } = await import('../screen/screen.ts')
      if (this.#disposed || this.screen) return
      this.screen = this.#equip(
        new TerminalScreen({
          font: this.#page.state?.settings.terminal ?? defaultSettings.terminal,
          openLink: url => void this.#page.attempt(this.#page.berth.openLink({ url })),
          pageKey: event => this.#pageKey(event),
          onLookBack: () => void this.catchUp(),
        }),
      )
    }
    await this.screen.show(place)
    if (focus) this.screen.xterm.focus()
    if (!this.#stream && this.status === 'connecting') await this.connect()
  }

  /** Opens a shell on the screen as it is. */
  async connect(): Promise<void> {
    const { screen } = this
    if (!screen || this.#disposed || this.#opening || this.#stream) return
    this.#opening = true
    clearTimeout(this.#retry)
    this.retryAt = undefined
    this.status = 'connecting'
    const { cols: columns, rows } = screen.xterm
    try {
      const answer = await this.#page.berth.openTerminal({
        ...this.#on,
        columns,
        rows,
        session: this.kept,
        fresh: this.#hooks.fresh,
        again: this.#connected,
      })
      const stream = this.#page.stream(answer.stream)
      if (this.#disposed) return stream.close()
      this.where = answer
      this.#stream = stream
      this.#tries = 0
      this.problem = undefined
      this.status = 'open'
      screen.oneScreen = answer.session !== undefined
      if (answer.history) screen.xterm.write(answer.history.replaceAll('\n', '\r\n'))
      // tmux draws all anew: what was on screen, or was just told, is kept above.
      if (answer.session && (this.#connected || answer.history)) screen.keepShown()
      this.#connected = true
      this.kept = answer.session
      this.#hooks.onOthers(answer.others)
      stream.read(
        bytes => {
          this.#missing ||= Date.now() > this.#caughtUpAt + redrawTime
          screen.print(bytes, () => stream.consumed(bytes.length))
        },
        problem => this.#ended(problem),
      )
      this.#resize()
    } catch (error) {
      this.#ended(problemOf(error))
    } finally {
      this.#opening = false
    }
  }

  /** It may be possible again: connects at once, unless why it ended wants the user first. */
  async comeBack(): Promise<void> {
    this.#tries = 0
    if (this.status === 'ended' && this.problem && !wantsUser(this.problem)) await this.connect()
  }

  /**
   * tmux draws what is to be seen, and leaves out what goes by faster: its own history takes the scrollback's place
   * before the user looks at it. A change of size makes tmux draw all anew, whatever it thinks is there.
   */
  async catchUp(): Promise<void> {
    const { screen, kept: session } = this
    const stream = this.#stream
    if (!screen || !stream || session === undefined || !this.#missing) return
    this.#missing = false
    const history = await this.#page.attempt(this.#page.berth.shellHistory({ ...this.#on, session }))
    if (history === undefined || stream !== this.#stream) return
    this.#caughtUpAt = Date.now()
    await screen.replaceScrollback(history)
    this.caughtUp += 1
    const { cols: columns, rows } = screen.xterm
    this.#page.berth
      .resizeTerminal({ stream: stream.id, columns, rows: Math.max(1, rows - 1) })
      .catch(() => {})
    this.#resize()
  }

  /** Takes the key that the host shows now for the right one, and connects. */
  async acceptHostKey(fingerprint: string): Promise<void> {
    const done = this.#page.berth.acceptHostKey({ ...this.#on, fingerprint }).then(() => true)
    if (await this.#page.attempt(done)) await this.connect()
  }

  search(): void {
    this.searching = true
    void this.catchUp()
  }

  focus(): void {
    this.screen?.xterm.focus()
  }

  dispose(): void {
    this.#disposed = true
    clearTimeout(this.#retry)
    this.#stream?.close()
    this.screen?.dispose()
  }

  #equip(screen: TerminalScreen): TerminalScreen {
    const encoder = new TextEncoder()
    const { xterm } = screen
    const typing = new Typing(bytes => this.#stream?.write(bytes))
    xterm.onData(text => typing.take(encoder.encode(text)))
    xterm.onBinary(text => typing.take(Uint8Array.from(text, letter => letter.charCodeAt(0))))
    xterm.onResize(() => this.#resize())
    return screen
  }

  #resize(): void {
    if (!this.#stream || !this.screen) return
    const { cols: columns, rows } = this.screen.xterm
    // A resize that comes when the stream has just ended is of no use to anyone.
    this.#page.berth.resizeTerminal({ stream: this.#stream.id, columns, rows }).catch(() => {})
  }

  #ended(problem: Problem | undefined): void {
    if (this.#disposed) return
    if (this.#stream) this.screen?.calm()
    this.#stream = undefined
    this.status = 'ended'
    this.problem = problem
    if (!problem) {
      this.kept = undefined
      this.#hooks.onExit(this)
    }
    const seconds = problem && retryIn(problem, this.#tries++)
    if (seconds === undefined) return
    this.retryAt = Date.now() + seconds * 1000
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.connect(), seconds * 1000)
  }

  #pageKey(event: KeyboardEvent): boolean {
    const key = pageKeyOf(event, this.#page.state?.app.platform === 'darwin')
    if (!key) return false
    if (key === 'copy') {
      const text = this.screen?.xterm.getSelection()
      if (text && event.type === 'keydown') void copyText(text)
    }
    // For a paste the browser's own does the work: xterm takes it up, bracketed where the shell asked for it.
    if (key !== 'paste') event.preventDefault()
    if (event.type === 'keydown' && key === 'search') this.search()
    if (event.type === 'keydown' && key === 'leave') this.onLeave()
    else if (event.type === 'keydown') this.#hooks.onKey(key)
    return true
  }
}
