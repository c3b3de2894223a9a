import type { MainMessage } from '../contract/bridge/messages.ts'
import type { CommandName } from '../contract/commands.ts'
import type { AccountId } from '../contract/ids.ts'
import type { Place, State } from '../contract/state.ts'
import type { Notice } from '../ports/notifier.ts'

/** A started Berth, as the shells see it. They carry messages and draw State; they decide nothing. */
export interface RunningBerth {
  state(): State
  /** Calls back after every change, with the state before it; gives the function that ends this. */
  onChange(listener: (after: State, before: State) => void): () => void
  /** A page has come: `send` carries messages to it and answers whether the transport has room for more. */
  connectPage(send: (message: MainMessage) => boolean): PageLink
  /** A command from outside the page: the tray, a menu, a notification, a link. Checked like any other. */
  dispatch(name: CommandName, args: unknown): Promise<unknown>
  /** The system's ssh and its arguments, to get into an instance; its key is attached first. */
  sshArguments(on: { account?: AccountId | undefined; instance: number }): Promise<readonly string[]>
  /** Makes a folder a project, by its absolute path: for who may name one. Gives its id; throws `no_such_folder`. */
  registerProject(folder: string): Promise<string>
  /** Sends the page to a place, with that account shown: for the tray, a link. */
  goTo(account: AccountId | undefined, place: Place): void
  /** Goes where a `berth://` link leads, or says why it leads nowhere. It may come from anyone. */
  follow(link: string): void
  /** Tells something of the shell's own. */
  say(notice: Notice): void
  /** The machine woke up, or its network came back: poll everything at once. */
  pollNow(): void
  /** From here on the desktop shows tray icons, or shows none. */
  noteTray(present: boolean): void
  /** The page failed as a whole, or a part of it: noted in Activity and in the log, up to a measure. */
  notePageFailure(text: string, detail: string): void
  /** Ends polling and connections, and writes what must be remembered. */
  close(): Promise<void>
}

export interface PageLink {
  /** Anything the page sent, unchecked. */
  receive(message: unknown): void
  /** Bytes that wait to be sent to this page hold its streams back: call when the transport has room again. */
  drained(): void
  /** The page has gone: its streams end. */
  close(): void
}
