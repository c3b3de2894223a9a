import { scrollback, type TmuxShell } from '../../contract/instance/terminal.ts'
import { firstLines } from '../../contract/text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { outputOf } from '../exec.ts'

const within = 10_000
/** Lines: tmux forgets a tenth of its history whenever that is full. */
const historyLimit = scrollback + 1200
/** Bytes of what a shell said before. */
const longestHistory = 4 * 1024 * 1024

/** The shells of Berth's in the instance's tmux; undefined where it has none. Throws `ssh_timeout` or `ssh_closed`. */
export async function tmuxShells(connection: Connection, clock: Clock): Promise<TmuxShell[] | undefined> {
  const found = await outputOf(connection, 'command -v tmux', { clock, within, most: 4096 })
  if (found.code !== 0 || !found.text.trim().startsWith('/')) return undefined
  const list = "tmux list-sessions -F '#{session_name} #{session_attached}'"
  // Where no server runs it fails, and prints nothing.
  const { text } = await outputOf(connection, list, { clock, within, most: 65_536 })
  return firstLines(text, { lines: 1000, length: 64 }).flatMap(line => {
    const [, name, clients] = /^(berth-[1-9]\d{0,3}) (\d+)$/.exec(line.trim()) ?? []
    return name === undefined ? [] : [{ name, attached: clients !== '0' }]
  })
}

/**
 * Opens that shell, or goes on with it. tmux gives a window its length of history when it is made, by the session's
 * choice: so the session begins with a window that does nothing, and no other of the user's is changed. The status
 * line is off: Berth has tabs of its own. Whoever else is connected to it is let go: a connection that was lost without
 * a word counts as one for hours, and the window would stay as small as it was there.
 */
export function tmuxCommand(name: string): string {
  const at = `'=${name}:'`
  const make = [
    `new-session -d -s ${name} 'sleep 60'`,
    `set-option -t ${at} history-limit ${historyLimit}`,
    `new-window -t ${at}`,
    `kill-window -t '=${name}:^'`,
  ].join(" ';' ")
  return `tmux has-session -t '=${name}' 2>/dev/null || tmux -u ${make}; tmux -u attach-session -d -t '=${name}' ';' set-option status off`
}

/** What scrolled out of that shell's sight, with its colours; empty for a fresh one. */
export async function historyOf(connection: Connection, name: string, clock: Clock): Promise<string> {
  const capture = `tmux capture-pane -p -e -S -${scrollback} -E -1 -t '=${name}:'`
  // Of what is too long the end counts.
  const question = `${capture} | tail -c ${longestHistory}`
  const { text, code } = await outputOf(connection, question, { clock, within, most: longestHistory })
  return code === 0 || code === undefined ? text : ''
}

/** The first free name. */
export function freeName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = `berth-${number}`
    if (!taken.has(name)) return name
  }
}
