import { copyText } from '#renderer/bridge/copyAndSave.ts'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { PageStream } from '#renderer/bridge/stream.ts'
import type { OpenedTerminal } from '#shared/instance/terminal.ts'
import type { Problem } from '#shared/problem.ts'
import { defaultSettings } from '#shared/settings.ts'
import { type PageKey, pageKeyOf } from './keys.ts'
import type { TerminalScreen } from './screen.ts'

/** Milliseconds after a forced redraw in which incoming bytes count as part of it. */
const redrawTime = 1000

interface Hooks {
  /** The tmux session to attach to. */
  session?: string
  /** Opens a new shell, even where tmux has a detached one. */
  fresh?: boolean
  /** Called for keys that control tabs and panes. */
  onKey: (key: PageKey) => void
  /** Called with the names of further detached shells. */
  onOthers: (names: readonly string[]) => void
  /** Called when the shell exits. */
  onExit: (session: TerminalSession) => void
}

/** One shell on one instance. Its screen survives reconnects, and visits to other screens of the page. */
export class TerminalSession {
  readonly instance: number
  status: 'connecting' | 'open' | 'ended' = $state('connecting')
  /** Why the connection ended, until it is open again; absent when the shell exited. */
  problem: Problem | undefined = $state.raw()
  /** The address as `root@host:port`, whether it is direct, and the host key. */
  where: Pick<OpenedTerminal, 'address' | 'direct' | 'hostKey'> | undefined = $state.raw()
  /** Its tmux session's name; absent for a plain shell. */
  kept: string | undefined = $state()
  /** When it reconnects automatically, in epoch milliseconds. */
  retryAt: number | undefined = $state()
  searching = $state(false)
  /** Counts how often the scrollback was replaced by tmux's history. */
  caughtUp = $state(0)
  screen: TerminalScreen | undefined = $state.raw()
  /** Called to move the focus back to the instance's row. */
  onLeave: () => void = () => {}

  readonly #page: Page
  readonly #account: string
  readonly #hooks: Hooks
  #stream: PageStream | undefined
  #tries = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #disposed = false
  #opening = false
  /** Whether its screen has shown a shell before. */
  #connected = false
  /** Whether output came since the scrollback was last replaced by tmux's history, and when that was (epoch ms). */
  #missing = false
  #caughtUpAt = 0

  constructor(page: Page, account: string, instance: number, hooks: Hooks) {
    this.#page = page
    this.#account = account
    this.instance = instance
    this.#hooks = hooks
    this.kept = hooks.session
  }

  /** Whether closing it ends its programs: it is open and not kept by tmux. */
  get endsOnceClosed(): boolean {
    return this.status === 'open' && this.kept === undefined
  }

  get #on() {
    return { account: this.#account, instance: this.instance }
  }

  /** Puts its screen into an element of the page, and connects if it is not connected yet. */
  async show(place: HTMLElement, focus: boolean): Promise<void> {
    if (!this.screen) {
      const { TerminalScreen } = await import('./screen.ts')
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

  /** Opens a shell of the screen's present size. */
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
      // tmux redraws the whole screen, so its current content moves into the scrollback first.
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
      this.#ended(answerProblem(error))
    } finally {
      this.#opening = false
    }
  }

  /** Reconnects at once, unless the user has to settle the problem first. */
  async comeBack(): Promise<void> {
    this.#tries = 0
    if (this.status === 'ended' && this.problem && !wantsUser(this.problem)) await this.connect()
  }

  /**
   * tmux sends the visible screen and skips lines of fast output, so the scrollback is replaced by tmux's own history
   * before the user looks at it. The change of size forces tmux to redraw everything.
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

  /** Trusts the host key that is shown now, and connects. */
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
    // The stream may have ended just now: such a refusal does not matter.
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
    // A paste is left to the browser: xterm handles its event, with bracketed paste where the shell asked for it.
    if (key !== 'paste') event.preventDefault()
    if (event.type === 'keydown' && key === 'search') this.search()
    if (event.type === 'keydown' && key === 'leave') this.onLeave()
    else if (event.type === 'keydown') this.#hooks.onKey(key)
    return true
  }
}

/** Codes of problems that often pass on their own; others need the user. */
const passing = new Set(['ssh_unreachable', 'ssh_timeout', 'ssh_closed', 'stream_failed', 'disconnected'])

/** Seconds before the first automatic retries, and before each later one. */
const waits = [1, 2, 4, 8, 15]
const furtherWait = 30

/** Seconds until the next automatic retry after so many failed ones; undefined where there should be none. */
export function retryIn(problem: Problem, tries: number): number | undefined {
  return passing.has(problem.code) ? (waits[tries] ?? furtherWait) : undefined
}

/** Whether the user has to act before a retry can work. */
export function wantsUser(problem: Problem): boolean {
  return [
    'host_key_changed',
    'host_key_known_elsewhere',
    'key_refused',
    'key_locked',
    'key_unusable',
  ].includes(problem.code)
}

/** Milliseconds in which further keys are sent together. Only key repeats and programs are that fast. */
const together = 4

/** Sends typed bytes to the shell: a single key at once, a flood of keys in batches. */
export class Typing {
  readonly #send: (bytes: Uint8Array) => void
  #pending: Uint8Array[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send
  }

  take(bytes: Uint8Array): void {
    this.#pending.push(bytes)
    if (this.#timer === undefined) this.#flush()
  }

  #flush(): void {
    this.#timer = undefined
    const [first, ...further] = this.#pending
    if (!first) return
    this.#pending = []
    this.#send(further.length === 0 ? first : joined([first, ...further]))
    this.#timer = setTimeout(() => this.#flush(), together)
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
