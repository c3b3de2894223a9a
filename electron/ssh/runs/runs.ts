import type { Clock } from '#platform/platform.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { runScript } from '../exec.ts'
import { quote } from '../ssh-command.ts'

/** A run's status. starting: its command has not begun yet. lost: it is gone and left no exit code. */
export interface RunStatus {
  state: 'none' | 'starting' | 'running' | 'ended' | 'lost'
  /** The exit code, once it has ended. */
  code?: number
  /** Bytes of its output so far. */
  size: number
  /** Output from the requested byte on. */
  bytes: Buffer
  /** Of a command that is tried again: its failed attempts, the last one's exit code, and the seconds until the next one. */
  attempts?: { failed: number; code: number; pause: number }
  /** Of one whose results are stored: how many seconds ago the last complete snapshot began, and why the last one failed. */
  stored?: { secondsAgo?: number; failure?: string }
}

/** The watchdog's action on the instance, this many seconds after the run's end, unless Berth acts first. */
export interface WatchdogOrder {
  action: 'stop' | 'destroy'
  seconds: number
}

/** How often a command is tried again, the seconds before the first time, and the exit codes; `error` for any. */
export interface RetryOrder {
  times: number
  pause: number
  codes: readonly (number | 'error')[]
}

/** What happens before a command's machine is stopped: a signal, a hook, and how many seconds the stop waits for them. */
export interface StopNotice {
  signal: 'TERM' | 'USR1' | 'USR2'
  run?: string
  seconds: number
}

/** Where a command's results are stored while it runs. */
export interface StoreOrder {
  /** Seconds between two snapshots. */
  every: number
  /** The run, by which its snapshots are found. */
  run: string
  /** In restic's notation. */
  repository: string
  /** The folder, relative to the home folder, and the results in it. */
  folder: string
  paths: readonly string[]
  password: string
  /** A private SSH key, or variables as lines `NAME=value`. */
  key?: string
  /** The public key of the SSH server. */
  hostKey?: string | undefined
  variables?: string
  /** Whether it begins with the last complete snapshot, if there is one. */
  restores: boolean
}

/** A command, the watchdog's order for after it, and the variables with which its instance was rented. */
export interface NewCommand {
  command: string
  /** Lines that prepare its environment, once. */
  before?: string
  attempts?: RetryOrder
  notice?: StopNotice
  store?: StoreOrder
  order: WatchdogOrder | undefined
  environment: Readonly<Record<string, string>>
}

/** Milliseconds for a script. */
const patience = 20_000
/** The most bytes of output per request. */
export const mostAtOnce = 256 * 1024
/** Milliseconds for results to rest, and for the command to end. */
const settlesWithin = 120_000
/** The most bytes of the status line before the output. */
const headline = 768

/** The scripts as text, loaded on first use. */
async function scripts() {
  const [environment, run, place, start, status, end, mark, signals, around, notice, links, whole, store] =
    await Promise.all([
      import('./environment.sh?raw'),
      import('./run.sh?raw'),
      import('./place.sh?raw'),
      import('./start.sh?raw'),
      import('./status.sh?raw'),
      import('./end.sh?raw'),
      import('./mark.sh?raw'),
      import('./signals.sh?raw'),
      import('./around.sh?raw'),
      import('./notice.sh?raw'),
      import('./links.sh?raw'),
      import('./whole.sh?raw'),
      import('./store.sh?raw'),
    ])
  return {
    signals: signals.default,
    around: `${signals.default}\n${around.default}`,
    notice: notice.default,
    links: links.default,
    whole: whole.default,
    store: [links, whole, store].map(part => part.default).join('\n'),
    run: `${environment.default}\n${run.default}`,
    place: place.default,
    start: start.default,
    status: status.default,
    end: end.default,
    mark: mark.default,
  }
}

/**
 * Starts a command that outlives the connection. A second call for the same run does nothing.
 * Throws `no_posix_shell`, `disk_full`, `ssh_timeout` or `ssh_closed`.
 */
export async function startRun(
  connection: Connection,
  clock: Clock,
  run: string,
  { command, before = '', attempts, notice, store, order, environment }: NewCommand,
): Promise<void> {
  const { run: script, place, start, around, store: storing } = await scripts()
  const values = {
    run,
    script,
    command: attempts || notice ? `${before}exec sh "$1/around.sh" "$@"` : `${before}${command}`,
    around,
    tried: attempts || notice ? command : '',
    before_stop: notice ? `${notice.signal} ${notice.seconds}` : '',
    hook: notice?.run ?? '',
    retry: attempts ? [attempts.times, attempts.pause, ...attempts.codes].join(' ') : '',
    ...storeValues(store, storing),
    order: order ? orderText(order) : '',
    BERTH_RENTED_WITH: environmentText(environment),
  }
  await expectAnswer(connection, clock, values, [place, start], 'started')
}

function storeValues(store: StoreOrder | undefined, script: string): Record<string, string> {
  const {
    every,
    run,
    repository,
    folder,
    paths = [],
    password,
    key,
    hostKey,
    variables,
    restores,
  } = store ?? {}
  return {
    store: store ? [every, run, repository, folder, ...paths].join('\n') : '',
    store_script: store ? script : '',
    store_password: password ?? '',
    store_key: key ?? '',
    store_host: hostKey === undefined ? '' : `berth-store ${hostKey}`,
    store_variables: variables ?? '',
    store_restores: restores ? 'yes' : '',
  }
}

/** The most characters of an environment: a process accepts no variable of 128 KB. */
const longestEnvironment = 30_000

/** The variables as lines, with the line ends in their values as \u0001. Those that are too long are left out. */
function environmentText(environment: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(environment)) {
    const line = `${name}=${value.replaceAll('\0', '').replaceAll('\n', '\u0001')}\n`
    if (text.length + line.length <= longestEnvironment) text += line
  }
  return text
}

/** Reads a run's status, and its output from byte `from` on. Throws as `startRun` does. */
export async function readRunStatus(
  connection: Connection,
  clock: Clock,
  run: string,
  from: number,
): Promise<RunStatus> {
  const { place, status } = await scripts()
  const values = { run, from: String(from), most: String(mostAtOnce) }
  const bounds = { clock, within: patience, most: mostAtOnce + headline }
  const { bytes } = await runScript(connection, values, [place, status], bounds)
  const end = bytes.indexOf(10)
  const line = bytes.subarray(0, Math.max(0, end)).toString()
  const [told = '', stored] = line.split(' stored ')
  const match = /^(none|starting|running|ended|lost) (\d+|-) (\d+)(?: (\d+) (\d+) (\d+))?$/.exec(told)
  if (!match) throw new BerthError(noShell)
  const [, state, code = '-', size, failed, failedCode, pause] = match
  return {
    state: state as RunStatus['state'],
    size: Math.min(Number(size), Number.MAX_SAFE_INTEGER),
    bytes: bytes.subarray(end + 1),
    // The file with it is the command's to write: no process ends with another code.
    code: code === '-' ? undefined : Math.min(Number(code), 255),
    attempts:
      failed === undefined
        ? undefined
        : { failed: Number(failed), code: Math.min(Number(failedCode), 255), pause: Number(pause) },
    stored: stored === undefined ? undefined : readStored(stored),
  }
}

/** `ok 12 `: how its snapshots are, how many seconds ago the last complete one began, -1 for none, and why they fail. */
function readStored(text: string): NonNullable<RunStatus['stored']> {
  const [, word, ago = '-1', why = ''] = /^([a-z]+) (-?\d{1,15}) ?(.*)$/.exec(text) ?? []
  const secondsAgo = Number(ago)
  return {
    ...(secondsAgo >= 0 && { secondsAgo }),
    ...(word === 'failed' && { failure: harmless(why.slice(0, 200)) || 'it gave no reason' }),
  }
}

/** Sends SIGTERM to the command and its processes. Throws as `startRun` does. */
export async function endRun(connection: Connection, clock: Clock, run: string): Promise<void> {
  const { place, end } = await scripts()
  await expectAnswer(connection, clock, { run }, [place, end], 'ended')
}

/** Tells the command that its machine is about to be stopped; whether it has had its time. Throws as `startRun` does. */
export async function tellOfStop(connection: Connection, clock: Clock, run: string): Promise<boolean> {
  const { place, notice } = await scripts()
  const { text } = await runScript(connection, { run }, [place, notice], {
    clock,
    within: patience,
    most: headline,
  })
  if (!text.includes('notice ')) throw new BerthError(noShell)
  return text.includes('notice over')
}

/**
 * Ends the command before its machine is left, once its results rest, or after `seconds`. Resolves with whether no file of them
 * can be half. `folder`: absolute. Throws as `startRun` does.
 */
export async function settleRun(
  connection: Connection,
  clock: Clock,
  run: string,
  { folder, paths, seconds = 60 }: { folder: string; paths: readonly string[]; seconds?: number },
): Promise<boolean> {
  const { place, signals, links, whole } = await scripts()
  const settle = await import('./settle.sh?raw')
  const values = { run, folder, paths: paths.join('\n'), most: String(seconds) }
  const { text } = await runScript(connection, values, [place, signals, links, whole, settle.default], {
    clock,
    within: settlesWithin,
    most: headline,
  })
  if (!text.includes('settled ')) throw new BerthError(noShell)
  return text.includes('settled whole')
}

/** Gives the watchdog its order. Throws as `startRun` does. */
export async function instructWatchdog(
  connection: Connection,
  clock: Clock,
  run: string,
  order: WatchdogOrder,
): Promise<void> {
  const { place, mark } = await scripts()
  const values = { run, word: 'then', order: orderText(order) }
  await expectAnswer(connection, clock, values, [place, mark], 'marked')
}

function orderText({ action, seconds }: WatchdogOrder): string {
  return `${action} ${seconds}`
}

/**
 * Tells the watchdog about the run. busy: Berth is handling it, so the watchdog's waiting time restarts. served: the
 * instance is about to be stopped, so its next start cancels the order. over: cancels the order. remove: deletes the
 * run's files. Throws as `startRun` does.
 */
export async function markRun(
  connection: Connection,
  clock: Clock,
  run: string,
  word: 'busy' | 'served' | 'over' | 'remove',
): Promise<void> {
  const { place, mark } = await scripts()
  await expectAnswer(connection, clock, { run, word }, [place, mark], 'marked')
}

async function expectAnswer(
  connection: Connection,
  clock: Clock,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  answer: string,
): Promise<void> {
  const { text } = await runScript(connection, values, parts, { clock, within: patience, most: headline })
  if (text.includes('refused no_room')) throw new BerthError(noRoom)
  if (!text.includes(`${answer} yes`)) throw new BerthError(noShell)
}

const noShell = {
  code: 'no_posix_shell',
  message: 'The instance’s shell can’t run Berth’s scripts.',
  advice: 'It needs a POSIX sh with the standard tools.',
}
const noRoom = {
  code: 'disk_full',
  message: 'The run couldn’t be written to the instance’s disk.',
  advice: 'Free some space there, then try again.',
}

/** The entry of the environment by which a run's processes are known, also in sessions of their own. `run.sh` sets it. */
const runMark = (run: string) => `BERTH_PROGRAM=${run}.`

/** A function of the shell: the numbers of the processes with an entry of the environment that begins so. */
export const markedProcesses = `marked() { grep -Fls -e "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3; }`

/**
 * Prints the names of a few programs that a run's command started and that still run after it has ended: those of its
 * session, and with `detached` those of other sessions. A session's first process that is there is another's, which got its
 * number after a restart.
 */
export function stillAtWork(run: string, detached: boolean): string {
  const script = `
${markedProcesses}
name() { read -r line < "/proc/$1/stat" || return; line=\${line#*(}; echo "\${line%)*}"; }
{
read -r pid < "\${HOME:-/root}/.berth/runs/${run}/pid" || pid=
if [ -n "$pid" ] && { [ ! -d "/proc/$pid" ] || grep -qs '^State:.Z' "/proc/$pid/status"; }; then
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    set -- \${line##*) }
    [ "$1" = Z ] || [ "$4" != "$pid" ] || { line=\${line#*(}; echo "\${line%)*}"; }
  done
fi
${detached ? `for each in $(marked ${runMark(run)}); do name "$each"; done` : ''}
} | sort -u | head -n 3`
  return `sh -c ${quote([script])} 2>/dev/null`
}
