import { BerthError } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { runScript } from '../scripted.ts'

/** How a run is. starting: its process has not said a word yet. lost: it is gone and has left no code. */
export interface RunStatus {
  state: 'none' | 'starting' | 'running' | 'ended' | 'lost'
  /** The exit code, once it has ended. */
  code?: number
  /** Bytes of its output so far. */
  size: number
  /** Percent, of the GPU with the highest; absent where it was not asked or is not known. */
  load?: number
  /** Output from the byte on that was asked for. */
  bytes: Buffer
}

/** What becomes of the instance, for its watchdog: so many seconds after the run's end, where Berth does nothing. */
export interface WatchdogOrder {
  action: 'stop' | 'destroy'
  seconds: number
}

/** Milliseconds for one of the scripts. */
const patience = 20_000
/** Bytes of output that are fetched at a time. */
export const mostAtOnce = 256 * 1024
/** Bytes of the line before it. */
const headline = 256

/** The scripts as text. They are bundled, and needed only now. */
async function scripts() {
  const [run, place, start, status, end, mark] = await Promise.all([
    import('./run.sh?raw'),
    import('./place.sh?raw'),
    import('./start.sh?raw'),
    import('./status.sh?raw'),
    import('./end.sh?raw'),
    import('./mark.sh?raw'),
  ])
  return {
    run: run.default,
    place: place.default,
    start: start.default,
    status: status.default,
    end: end.default,
    mark: mark.default,
  }
}

/**
 * Starts a command that outlives the connection. Asked again for the same run, it does nothing: the command runs once.
 * Throws `no_posix_shell`, `disk_full`, `ssh_timeout` or `ssh_closed`.
 */
export async function startRun(
  connection: Connection,
  clock: Clock,
  run: string,
  { command, order }: { command: string; order: WatchdogOrder | undefined },
): Promise<void> {
  const { run: script, place, start } = await scripts()
  const values = { run, script, command, order: order ? orderText(order) : '' }
  await said(connection, clock, values, [place, start], 'started')
}

/** Throws as `startRun` does. */
export async function readRunStatus(
  connection: Connection,
  clock: Clock,
  run: string,
  from: number,
  withLoad: boolean,
): Promise<RunStatus> {
  const { place, status } = await scripts()
  const values = { run, from: String(from), most: String(mostAtOnce), with_load: withLoad ? 'yes' : '' }
  const bounds = { clock, within: patience, most: mostAtOnce + headline }
  const { bytes } = await runScript(connection, values, [place, status], bounds)
  const end = bytes.indexOf(10)
  const told = /^(none|starting|running|ended|lost) (\d+|-) (\d+) (\d+|-)$/.exec(
    bytes.subarray(0, Math.max(0, end)).toString('latin1'),
  )
  if (!told) throw new BerthError(noShell)
  const [, state, code = '-', size, load = '-'] = told
  return {
    state: state as RunStatus['state'],
    size: Number(size),
    bytes: bytes.subarray(end + 1),
    code: code === '-' ? undefined : Number(code),
    load: load === '-' ? undefined : Number(load),
  }
}

/** Asks the command to end, and all that it has started. Throws as `startRun` does. */
export async function endRun(connection: Connection, clock: Clock, run: string): Promise<void> {
  const { place, end } = await scripts()
  await said(connection, clock, { run }, [place, end], 'ended')
}

/** Tells the watchdog what becomes of the instance. Throws as `startRun` does. */
export async function instructWatchdog(
  connection: Connection,
  clock: Clock,
  run: string,
  order: WatchdogOrder,
): Promise<void> {
  const { place, mark } = await scripts()
  const values = { run, word: 'then', order: orderText(order) }
  await said(connection, clock, values, [place, mark], 'marked')
}

function orderText({ action, seconds }: WatchdogOrder): string {
  return `${action} ${seconds}`
}

/**
 * Tells the watchdog about the run. busy: Berth is at it, so it waits its time anew. served: the instance is
 * about to be stopped, so that a start of it ends the matter. over: nothing is left to do. remove: nothing is left of
 * the run. Throws as `startRun` does.
 */
export async function markRun(
  connection: Connection,
  clock: Clock,
  run: string,
  word: 'busy' | 'served' | 'over' | 'remove',
): Promise<void> {
  const { place, mark } = await scripts()
  await said(connection, clock, { run, word }, [place, mark], 'marked')
}

async function said(
  connection: Connection,
  clock: Clock,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  wanted: string,
): Promise<void> {
  const { text } = await runScript(connection, values, parts, { clock, within: patience, most: headline })
  if (text.includes('refused no_room')) throw new BerthError(noRoom)
  if (!text.includes(`${wanted} yes`)) throw new BerthError(noShell)
}

const noShell = {
  code: 'no_posix_shell',
  message: 'This instance’s shell cannot run what Berth puts there.',
  advice: 'It needs a POSIX sh with the usual small programs.',
}
const noRoom = {
  code: 'disk_full',
  message: 'The run could not be written to the instance’s disk.',
  advice: 'Make room there, then try again.',
}
