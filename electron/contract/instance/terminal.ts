import * as v from 'valibot'

/** Lines that a terminal keeps of what has scrolled out of sight. */
export const scrollback = 10_000

/** A shell of Berth's in an instance's tmux. */
export const TmuxShellName = v.pipe(v.string(), v.regex(/^berth-[1-9]\d{0,3}$/, 'not a shell of Berth’s'))

export interface TmuxShell {
  name: string
  /** Whether somebody is connected to it, from here or elsewhere. */
  attached: boolean
}

/** A shell that was opened for the page. */
export interface OpenedTerminal {
  stream: number
  /** `root@host:port` */
  address: string
  direct: boolean
  /** Its name in tmux, where it lives there. */
  session?: string
  /** What a shell that was found again had said before it was left, with its escapes. */
  history?: string
  /** Further shells in tmux that nobody is connected to. */
  others: readonly string[]
  /** `SHA256:…` of the host key, and whether Berth saw it for the first time on this connection. */
  hostKey: { fingerprint: string; isFirst: boolean }
}
