import * as v from 'valibot'

/** The lines of a terminal's scrollback. */
export const scrollback = 10_000

/** The tmux session of one of Berth's shells. */
export const TmuxShellName = v.pipe(v.string(), v.regex(/^berth-[1-9]\d{0,3}$/, 'not a shell of Berth’s'))

export interface TmuxShell {
  name: string
  /** Whether anyone is connected to it, from here or elsewhere. */
  attached: boolean
}

/** A shell that was opened for the page. */
export interface OpenedTerminal {
  stream: number
  /** `root@host:port` */
  address: string
  direct: boolean
  /** Its session's name if it lives in tmux. */
  session?: string
  /** The earlier output of a tmux shell that was resumed, with its escape sequences. */
  history?: string
  /** Further shells in tmux that nobody is connected to. */
  others: readonly string[]
  /** `SHA256:…` of the host key, and whether Berth saw it for the first time on this connection. */
  hostKey: { fingerprint: string; isFirst: boolean }
}
