import type { Page } from '#renderer/bridge/page.svelte.ts'
import type { PageKey } from './keys.ts'
import { type Layout, movedPane, panesOf, splitPanes, withoutPane } from './layout.ts'
import { TerminalSession } from './session.svelte.ts'

/** One tab, with one shell or several side by side. */
export class ShellTab {
  readonly number: number
  layout: Layout<TerminalSession> = $state.raw() as Layout<TerminalSession>
  /** The pane that has or last had the focus. */
  current: TerminalSession = $state.raw() as TerminalSession

  constructor(number: number, first: TerminalSession) {
    this.number = number
    this.layout = { kind: 'pane', pane: first }
    this.current = first
  }

  /** Not `$derived`: a tab outlives the component that opened it, and a derived value would stop updating with that. */
  get panes(): TerminalSession[] {
    return panesOf(this.layout)
  }

  /** The tmux session's name, or a number. */
  get title(): string {
    return this.current.kept ?? `Shell ${this.number}`
  }

  move(target: Layout<TerminalSession>, share: number): void {
    this.layout = movedPane(this.layout, target, share)
  }
}

/** The page's shells on one instance, as tabs of one or more panes. */
export class InstanceShells {
  readonly instance: number
  tabs: ShellTab[] = $state.raw([])
  current: ShellTab = $state.raw() as ShellTab
  /** The shell that is closed once the user has confirmed it. */
  asked: TerminalSession | undefined = $state.raw()
  readonly #page: Page
  readonly #account: string
  #numbers = 0
  #enterable = true

  constructor(page: Page, account: string, instance: number) {
    this.#page = page
    this.#account = account
    this.instance = instance
    this.openTab({})
  }

  /** The shells of all tabs. */
  get all(): TerminalSession[] {
    return this.tabs.flatMap(tab => tab.panes)
  }

  openTab(which: { session?: string; fresh?: boolean }, show = true): void {
    this.#numbers += 1
    const tab = new ShellTab(this.#numbers, this.#session(which))
    this.tabs = [...this.tabs, tab]
    if (show || this.tabs.length === 1) this.current = tab
  }

  split(way: 'right' | 'down'): void {
    const { current: tab } = this
    const fresh = this.#session({ fresh: true })
    tab.layout = splitPanes(tab.layout, tab.current, way, fresh)
    tab.current = fresh
  }

  /** Closes a pane; asks first if that would end its programs. Returns whether any shell is left. */
  tryClose(session: TerminalSession): boolean {
    if (!session.endsOnceClosed) return this.close(session)
    this.asked = session
    return true
  }

  /** Closes a pane; a tmux session continues without it. Returns whether any shell is left. */
  close(session: TerminalSession): boolean {
    const tab = this.tabs.find(one => one.panes.includes(session))
    if (!tab) return this.tabs.length > 0
    if (session.kept && session.status === 'open')
      this.#page.say(
        `${session.kept} keeps running in tmux.`,
        'Its programs keep running; open it again from the menu of the terminal’s tabs.',
      )
    session.dispose()
    const rest = withoutPane(tab.layout, session)
    if (rest) {
      tab.layout = rest
      if (tab.current === session) tab.current = panesOf(rest)[0] ?? tab.current
      return true
    }
    const at = this.tabs.indexOf(tab)
    this.tabs = this.tabs.filter(one => one !== tab)
    const next = this.tabs[Math.min(at, this.tabs.length - 1)]
    if (this.current === tab && next) this.current = next
    return next !== undefined
  }

  /** Shows the tab so many places further, wrapping around. */
  go(by: number): void {
    const at = this.tabs.indexOf(this.current) + by
    this.current = this.tabs[(at + this.tabs.length) % this.tabs.length] ?? this.current
  }

  /** Takes in whether the instance can be reached; once it can be again, its shells reconnect. */
  follow(enterable: boolean): void {
    const again = enterable && !this.#enterable
    this.#enterable = enterable
    if (again) this.comeBack()
  }

  /** Reconnects the shells that were lost. */
  comeBack(): void {
    if (this.#enterable) for (const session of this.all) void session.comeBack()
  }

  dispose(): void {
    for (const session of this.all) session.dispose()
  }

  #session(which: { session?: string; fresh?: boolean }): TerminalSession {
    return new TerminalSession(this.#page, this.#account, this.instance, {
      ...which,
      onKey: key => this.#key(key),
      // Each detached shell gets its own tab.
      onOthers: names => {
        const open = new Set(this.all.map(session => session.kept))
        for (const session of names) if (!open.has(session)) this.openTab({ session }, false)
      },
      // A shell that exited closes its pane; the last one stays to be read.
      onExit: session => {
        if (this.all.length > 1) this.close(session)
      },
    })
  }

  #key(key: PageKey): void {
    const { current } = this.current
    if (key === 'new') this.openTab({ fresh: true })
    if (key === 'split_right') this.split('right')
    if (key === 'split_down') this.split('down')
    if (key === 'close' && this.all.length > 1) this.tryClose(current)
    if (key === 'next') this.go(1)
    if (key === 'previous') this.go(-1)
  }
}
