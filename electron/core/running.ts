import type { MainMessage } from '#contract/messages.ts'
import type { CommandName } from '../contract/commands.ts'
import type { Freeze, Notice } from '../platform/platform.ts'
import type { AccountId } from '../shared/ids.ts'
import type { UndoableAction } from '../shared/instance/instance.ts'
import type { Micros } from '../shared/spending/money.ts'
import type { Spender } from '../shared/spending/spender.ts'
import type { Place, State } from '../shared/state.ts'

/** A started Berth for the shells, which pass messages and draw State but decide nothing. */
export interface RunningBerth {
  state(): State
  /** Calls back after every change, with the state before it; gives the function that ends this. */
  onChange(listener: (after: State, before: State) => void): () => void
  /**
   * Connects a page: `send` sends messages to it and answers whether the transport has room for more. `isInFront`:
   * whether its window is before the user; without it, the page says so. `by`: the agent or script that is
   * connected in place of the user.
   */
  connectPage(
    send: (message: MainMessage) => boolean,
    isInFront?: () => boolean,
    by?: () => Spender | undefined,
  ): PageLink
  /** Runs a command from outside a page: from the tray, a menu, a notification or a link. Checked like any other. */
  dispatch(name: CommandName, args: unknown): Promise<unknown>
  /** Acts on an instance after five seconds, in which a notice offers to undo it: for the tray. Asks nothing. */
  act(on: { account: AccountId; instance: number }, action: UndoableAction): Promise<void>
  /** The system's ssh and its arguments to connect to an instance; attaches the key first. `opens`: it is run with them. */
  sshArguments(on: {
    account?: AccountId | undefined
    instance: number
    opens: boolean
  }): Promise<readonly string[]>
  /** Makes a folder a project, by its absolute path; not for pages. Gives its id; throws `no_such_folder`. */
  registerProject(folder: string): Promise<string>
  /** Sends the page to a place, with that account shown: for the tray and links. */
  goTo(account: AccountId | undefined, place: Place): void
  /** The page has gone there, and a new one is to open elsewhere. */
  forgetGoTo(): void
  /** Follows a `berth://` link, which may come from anyone, or shows why it leads nowhere. */
  follow(link: string): void
  /** What an account has spent today, by this computer's calendar, micro-dollars; undefined without one. */
  spentToday(account: AccountId): Micros | undefined
  /** Shows a notice of the shell. */
  say(notice: Notice): void
  /** Says that Berth stood still, and polls. */
  noteFreeze(freeze: Freeze): void
  /** Polls everything at once, after the machine woke or its network came back. */
  pollNow(): void
  /** Sends stops that could still be undone, since the computer is about to sleep. */
  beforeSleep(): void
  /** Notes whether the desktop shows tray icons. */
  noteTray(present: boolean): void
  /** Notes whether the shortcut that shows Berth works. */
  noteGlobalShortcut(state: State['app']['globalShortcut']): void
  /** Notes a failure of the page or a part of it in Activity and in the log, up to a limit. */
  notePageFailure(text: string, detail: string): void
  /** Ends polling and connections, and writes pending changes. */
  close(): Promise<void>
}

export interface PageLink {
  /** Handles a message of the page, which is not checked yet. */
  receive(message: unknown): void
  /** Call once the transport has room again: until then the page's streams are paused. */
  drained(): void
  /** Whether its end would cut something off: an open stream, or a command without an answer. */
  isBusy(): boolean
  /** Call when the page is gone: ends its streams. */
  close(): void
}
