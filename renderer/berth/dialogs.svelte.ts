import type { ProjectDraft } from '#contract/project/spec.ts'

/** A dialog that any part of the page may open. */
export type OpenDialog =
  | { kind: 'connect' | 'palette' | 'shortcuts' | 'stopAll' | 'pause' | 'login' }
  | { kind: 'replaceKey'; account: string }
  | { kind: 'rentAgain'; rental: string }
  /** What its file says, or in its place what a form says, or what an earlier run was of. */
  | { kind: 'runProject'; project: string; draft?: ProjectDraft; run?: string }
  | { kind: 'editSpec'; project: string }
  | { kind: 'priceIncrease'; instance: number; answer: 'accept' | 'refuse' }
  | { kind: 'address'; what: string; url: string }
  /** A file on an instance. It stays open, with the user's text, when the instance goes. */
  | { kind: 'editFile'; of: { account: string; instance: number }; path: string }
  | {
      kind: 'start' | 'limit' | 'stop' | 'destroy' | 'rename' | 'bid' | 'another' | 'editor' | 'terminal'
      instance: number
    }

/** The one dialog that is open, if any. */
class Dialogs {
  open: OpenDialog | undefined = $state.raw()

  show(what: OpenDialog): void {
    this.open = what
  }

  /** Closes the one that asks for it: by the time an answer comes, another may be open in its place. */
  close(asking: OpenDialog | undefined): void {
    if (this.open === asking) this.open = undefined
  }
}

export const dialogs = new Dialogs()
