import type { Clock } from '#platform/platform.ts'
import { scrollback, type TmuxShell } from '#shared/instance/terminal.ts'
import { firstLines } from '#shared/text.ts'
import type { Connection } from '../connection/connection.ts'
import { outputOf, shellQuoted } from '../exec.ts'

const within = 10_000
/** Lines of history that tmux keeps; whenever that is full, it drops a tenth of them. */
const historyLimit = scrollback + 1200
/** The most bytes of history that are fetched. */
const longestHistory = 4 * 1024 * 1024

/** Berth's tmux sessions on the instance; undefined without tmux. Throws `ssh_timeout` or `ssh_closed`. */
export async function tmuxShells(connection: Connection, clock: Clock): Promise<TmuxShell[] | undefined> {
  const found = await outputOf(connection, 'command -v tmux', { clock, within, most: 4096 })
  if (found.code !== 0 || !found.text.trim().startsWith('/')) return undefined
  const list = "tmux list-sessions -F '#{session_name} #{session_attached}'"
  // Without a tmux server the command fails and prints nothing.
  const { text } = await outputOf(connection, list, { clock, within, most: 65_536 })
  return firstLines(text, { lines: 1000, length: 64 }).flatMap(line => {
    const [, name, clients] = /^(berth-[1-9]\d{0,3}) (\d+)$/.exec(line.trim()) ?? []
    return name === undefined ? [] : [{ name, attached: clients !== '0' }]
  })
}

/** Options of the session that an image's tmux.conf may set so that its shell ends, is locked, or becomes another one. */
const ownOptions = ['destroy-unattached off', 'detach-on-destroy on', 'lock-after-time 0']

/**
 * Creates the session or attaches to it. The options in the same command come before tmux acts by those of the image's
 * own file; `exit-unattached` is the server's, so it is off for all its sessions. A tmux window gets its history limit
 * from the session when it is created, so the session begins with an idle window that is replaced; the user's other
 * sessions keep their limits. The status line is off, since Berth has tabs. The shell sees the image's and the rental's
 * variables (terminal.sh). Other clients are detached: tmux counts a dead connection as a client for hours, and would
 * keep the window at its size.
 */
export async function tmuxCommand(name: string): Promise<string> {
  const at = `'=${name}:'`
  const [environment, terminal] = await Promise.all([
    import('../runs/environment.sh?raw'),
    import('./terminal.sh?raw'),
  ])
  // Encoded, since every shell quotes it its own way: the user's runs this line, and tmux's runs what it holds.
  const script = Buffer.from(`${environment.default}\n${terminal.default}`).toString('base64')
  const start = shellQuoted(`eval "$(echo ${script} | base64 -d)"; exec "\${SHELL:-/bin/sh}" -l`)
  const make = [
    `new-session -d -s ${name} sleep 60`,
    `set-option -qs exit-unattached off`,
    ...ownOptions.map(option => `set-option -qt ${at} ${option}`),
    `set-option -t ${at} history-limit ${historyLimit}`,
    `new-window -t ${at} sh -c ${start}`,
    `set-option -qwt ${at} remain-on-exit off`,
    `kill-window -t '=${name}:^'`,
  ].join(" ';' ")
  return `tmux has-session -t '=${name}' 2>/dev/null || tmux -u ${make}; tmux -u attach-session -d -t '=${name}' ';' set-option status off`
}

/** The shell's scrollback with its colours; empty for a new shell. */
export async function historyOf(connection: Connection, name: string, clock: Clock): Promise<string> {
  const capture = `tmux capture-pane -p -e -S -${scrollback} -E -1 -t '=${name}:'`
  // If the history is too long, only its end is fetched.
  const question = `${capture} | tail -c ${longestHistory}`
  const { text, code } = await outputOf(connection, question, { clock, within, most: longestHistory })
  return code === 0 || code === undefined ? text : ''
}

/** The first name `berth-1`, `berth-2`… that is not taken. */
export function freeName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = `berth-${number}`
    if (!taken.has(name)) return name
  }
}
