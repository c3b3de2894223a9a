import type { Clock } from '#platform/platform.ts'
import type { WatchdogEnding, WatchdogReason, WatchdogRequest } from '#shared/automation/watchdog.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { firstLines } from '#shared/text.ts'
import type { Connection } from '../connection/connection.ts'
import { outputOf, runScript } from '../exec.ts'
import { busiest, loadQuestion, whyUnread } from '../monitor/metrics.ts'
import { plainLine } from '../monitor/plain-output.ts'
import { configLines, requestIn, watchdogScript, wholeNumber } from './start-script.ts'

/** The settings of a watchdog when it is installed. */
export interface WatchdogConfig {
  request: WatchdogRequest
  instance: number
  /** The service's URL. */
  url: string
  /** The account's time, epoch seconds. */
  now: number
  /** Seconds between two of its checks. */
  tick: number
  /** The instance's own API key, if Berth has it; used if the container does not have it. */
  key?: string
  /** The Berth that installs it. */
  owner: string
}

/** A watchdog's own status. */
export interface WatchdogReading {
  request: WatchdogRequest
  alive: boolean
  hooked: boolean
  /** Whether its config names its instance. */
  placed: boolean
  /** The Berth that installed it. */
  owner?: string
  key: 'container' | 'kept'
  load?: number
  /** It goes by a load that it cannot read. */
  blind?: true
  idleFor?: number
  leasedFor?: number
  why?: WatchdogReason
  tries?: number
  /** What it has asked of the service, by its own account. */
  did?: WatchdogEnding
  /** What would keep it from acting, where it was to ask the service. */
  cannot?: Problem
}

/** Milliseconds for a script, also if it asks the service with each tool, and the most bytes of its output. */
const patience = 20_000
const patienceForAnswers = 60_000
const longest = 64 * 1024

/** The scripts as text, loaded on first use. */
async function scripts() {
  const [watchdog, here, put, config, service, status, remove] = await Promise.all([
    watchdogScript(),
    import('./here.sh?raw'),
    import('./put.sh?raw'),
    import('./script/config.sh?raw'),
    import('./script/service.sh?raw'),
    import('./status.sh?raw'),
    import('./remove.sh?raw'),
  ])
  return {
    watchdog,
    here: here.default,
    put: put.default,
    asking: [config.default, service.default],
    status: status.default,
    remove: remove.default,
  }
}

/**
 * Installs and starts the watchdog, or gives an installed one another request. `tell`: an address and a message for when
 * it acts, a line each; empty for none. Throws `no_http_tool`,
 * `no_instance_key`, `no_posix_shell` or `disk_full`, and as `readWatchdog` does.
 */
export async function putWatchdog(
  connection: Connection,
  clock: Clock,
  config: WatchdogConfig,
  lease: string,
  tell: string = '',
): Promise<WatchdogReading> {
  const { watchdog, here, put, asking, status } = await scripts()
  const values = {
    instance: String(config.instance),
    script: watchdog,
    config: configText(config),
    given_key: config.key ?? '',
    lease,
    tell,
    asks: 'yes',
  }
  const found = await run(connection, clock, values, [here, put, ...asking, status], patienceForAnswers)
  const seen = readStatus(found)
  if (!seen) throw new BerthError(noShell)
  return seen
}

/** Throws `gpu_load_unread` for an instance whose GPU load a watchdog could not read, and as `outputOf` does. */
export async function needLoad(connection: Connection, clock: Clock): Promise<void> {
  const printed = await outputOf(connection, loadQuestion, { clock, within: patience, most: longest })
  if (busiest(printed.text) === undefined) throw new BerthError(loadUnread(whyUnread(printed.text)))
}

/**
 * Reads the watchdog's status, renews its lease if `lease` is not empty, and restarts it if it has ended. `tell` is as above,
 * or `keep`; `asks`: it is to ask the service whether it could act. Undefined if none is installed. Throws `ssh_timeout`,
 * `ssh_closed` or `no_posix_shell`.
 */
export async function readWatchdog(
  connection: Connection,
  clock: Clock,
  lease: string,
  tell: string = 'keep',
  asks: boolean = false,
): Promise<WatchdogReading | undefined> {
  const { here, asking, status } = await scripts()
  const parts = [here, ...(asks ? asking : []), status]
  const values = { lease, tell, asks: asks ? 'yes' : '' }
  return readStatus(await run(connection, clock, values, parts, asks ? patienceForAnswers : patience))
}

/** Removes the watchdog and its files. Throws `not_removed`, and as `readWatchdog` does. */
export async function removeWatchdog(connection: Connection, clock: Clock, instance: number): Promise<void> {
  const { here, remove } = await scripts()
  const found = await run(connection, clock, { instance: String(instance) }, [here, remove])
  if (found.get('removed') !== 'yes') throw new BerthError(stays)
}

/** The last lines of the watchdog's log. Throws `ssh_timeout` or `ssh_closed`. */
export async function watchdogLog(
  connection: Connection,
  clock: Clock,
): Promise<{ at: number; text: string }[]> {
  const { text } = await outputOf(connection, `tail -n 300 "\${HOME:-/root}/.berth/watchdog/log"`, {
    clock,
    within: patience,
    most: longest,
  })
  return firstLines(text, { lines: 300, length: 4096 }).flatMap(line => {
    const [, at, message] = /^(\d{1,12}) (.*)$/.exec(plainLine(line)) ?? []
    return at === undefined || message === undefined ? [] : [{ at: Number(at), text: message }]
  })
}

/** Runs scripts, and parses their output: a name and a value on each line. */
async function run(
  connection: Connection,
  clock: Clock,
  values: Record<string, string>,
  parts: readonly string[],
  within: number = patience,
): Promise<Map<string, string>> {
  const { text, code } = await runScript(connection, values, parts, { clock, within, most: longest })
  const found = new Map(
    firstLines(text, { lines: 256, length: 4096 }).flatMap(line => {
      const [, name, value] = /^([a-z_.]+) (.*)$/.exec(plainLine(line)) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
  const refused = found.get('refused')
  if (refused !== undefined) throw new BerthError(refusals[refused] ?? noShell)
  if (found.size === 0 || (code !== undefined && code !== 0)) throw new BerthError(noShell)
  return found
}

function configText({ request, instance, url, now, tick, owner }: WatchdogConfig): string {
  return configLines({ ...request, instance, url, tick, writtenAt: Math.floor(now), owner }).join('\n')
}

function readStatus(found: ReadonlyMap<string, string>): WatchdogReading | undefined {
  if (found.get('there') !== 'yes') return undefined
  const number = (name: string) => wholeNumber(found.get(name))
  const report = {
    load: number('state.load'),
    blind: found.get('state.blind') === '1' ? (true as const) : undefined,
    idleFor: number('state.idle_for'),
    leasedFor: number('state.leased_for'),
    why: readReason(found.get('state.why')),
    tries: number('state.tries'),
    did: readEnding(found.get('done')),
    cannot: hindrances[found.get('cannot') ?? ''],
  }
  return {
    request: requestIn(name => found.get(`config.${name}`)),
    alive: found.get('alive') === 'yes',
    hooked: found.get('hooked') === 'yes',
    placed: found.has('config.instance'),
    owner: found.get('config.owner'),
    key: found.get('config.key') === 'kept' ? 'kept' : 'container',
    ...Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined)),
  }
}

function readReason(text: string | undefined): WatchdogReason | undefined {
  return text === 'time' || text === 'idle' || text === 'lease' || text === 'run' ? text : undefined
}

function readEnding(text: string | undefined): WatchdogEnding | undefined {
  const [, at, action, reason] = /^(\d{1,12}) (stop|destroy) (\w+)$/.exec(text ?? '') ?? []
  const why = readReason(reason)
  if (at === undefined || why === undefined) return undefined
  return { at: Number(at), action: action === 'destroy' ? 'destroy' : 'stop', why }
}

const noShell = {
  code: 'no_posix_shell',
  message: 'The instance’s shell can’t run Berth’s scripts.',
  advice: 'It needs a POSIX sh with the standard tools. A limit in Berth itself needs nothing there.',
}
const loadUnread = (why: string) => ({
  code: 'gpu_load_unread',
  message: `A watchdog can’t tell when it’s idle: ${why}.`,
  advice: 'Choose a time or a lease instead.',
})
const stays = {
  code: 'not_removed',
  message: 'The watchdog’s folder couldn’t be removed.',
  advice: 'Remove ~/.berth/watchdog on the instance yourself.',
}
const hindrances: Record<string, Problem> = {
  no_answer: {
    code: 'no_service_there',
    message: 'The service doesn’t answer on the instance, so a watchdog couldn’t reach it.',
    advice: 'Often the image lacks ca-certificates, or its network blocks the way out.',
  },
  key_refused: {
    code: 'instance_key_refused',
    message: 'The service doesn’t know the instance’s own key, so a watchdog couldn’t act.',
    advice: 'Set a limit without a watchdog, and keep this computer awake until then.',
  },
}
const refusals: Record<string, Problem> = {
  no_tool: {
    code: 'no_http_tool',
    message: 'The instance has no curl, GNU wget or python3, so a watchdog couldn’t reach the service.',
    advice: 'Install one of them there, then try again.',
  },
  no_key: {
    code: 'no_instance_key',
    message: 'The instance’s own key is missing, and a watchdog never gets yours.',
    advice: 'The container has no CONTAINER_API_KEY, and it was not rented with this Berth.',
  },
  no_room: {
    code: 'disk_full',
    message: 'The watchdog couldn’t be written to the instance’s disk.',
    advice: 'Free some space there, then try again.',
  },
}
