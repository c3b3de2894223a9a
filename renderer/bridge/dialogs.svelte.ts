import type { ProjectDraft, SpecChange } from '#shared/project/spec.ts'

/** A dialog that any part of the page may open. */
export type OpenDialog =
  | { kind: 'connect' | 'palette' | 'shortcuts' | 'stopAll' | 'pause' | 'login' | 'report' | 'quit' }
  | { kind: 'replaceKey'; account: string }
  | { kind: 'rentAgain'; rental: string }
  /** `machine`: the id of the one that the volume is on. */
  | { kind: 'rentWith'; volume: { id: number; name: string; machine: number } }
  /** The terms from its file, a form or an earlier run, and the sweep chosen in their place. */
  | { kind: 'runProject'; project: string; draft?: ProjectDraft; run?: string; change?: SpecChange }
  | { kind: 'editSpec' | 'sweep'; project: string }
  | { kind: 'priceIncrease'; instance: number; answer: 'accept' | 'refuse' }
  | { kind: 'address'; what: string; url: string }
  /** A file on an instance. It stays open, with the user's text, when the instance goes. */
  | { kind: 'editFile'; of: { account: string; instance: number }; path: string }
  | {
      kind:
        | 'start'
        | 'limit'
        | 'stop'
        | 'reboot'
        | 'destroy'
        | 'rename'
        | 'reportMachine'
        | 'bid'
        | 'prepay'
        | 'another'
        | 'editor'
        | 'terminal'
      instance: number
    }

/** The one dialog that is open, if any. */
class Dialogs {
  open: OpenDialog | undefined = $state.raw()

  show(what: OpenDialog): void {
    this.open = what
  }

  /** Closes only the dialog that asks: by the time an answer comes, another may be open. */
  close(asking: OpenDialog | undefined): void {
    if (this.open === asking) this.open = undefined
  }
}

export const dialogs = new Dialogs()
