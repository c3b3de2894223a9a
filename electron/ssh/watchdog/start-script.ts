import { gzipSync } from 'node:zlib'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'

/**
 * Lines for a rental's start script that install the watchdog before anybody connects, and start it at every start of
 * the container. They contain no API key: the watchdog uses the container's own. The instance's id comes from the
 * container (`CONTAINER_ID`), or from Berth when it first connects. A config that Berth has changed meanwhile is kept, and
 * one that Berth has removed doesn't come back.
 */
export async function watchdogStartScript(
  request: WatchdogRequest,
  url: string,
  tick: number,
): Promise<string> {
  const packed = gzipSync(briefly(await watchdogScript()), { level: 9 })
    .toString('base64')
    .replace(/.{76}/g, '$&\n')
  return installing('base64 -d', ' | gzip -dc', packed, configLines({ ...request, url, tick }))
}

/**
 * The same for a service that takes only short scripts: a small one that knows the time alone, until Berth connects. Its
 * clock begins with the container. `writtenAt`: the account's time, epoch seconds.
 */
export async function earlyStartScript(
  { action, at }: WatchdogRequest & { at: number },
  url: string,
  tick: number,
  writtenAt: number,
): Promise<string> {
  const script = await import('./script/early.sh?raw')
  const lines = configLines({ action, at, url, tick, writtenAt })
  return installing('cat', '', briefly(script.default).trimEnd(), lines)
}

function installing(read: string, unpack: string, script: string, config: readonly string[]): string {
  const lines = [...config, 'key=container'].map(line => `'${line.replaceAll("'", `'\\''`)}'`)
  return `# >>> berth watchdog
( umask 077; d=\${HOME:-/root}/.berth/watchdog; mkdir -p "$d"
[ -f "$d/removed" ] && exit
[ -f "$d/config" ] || { ${read} << 'BERTH'${unpack} > "$d/watchdog.sh" && printf '%s\\n' ${lines.join(' ')} > "$d/config"; }
${script}
BERTH
sh "$d/watchdog.sh" start ) || :
# <<< berth watchdog
`
}

/** A script without its comments but for the first ones, since a start script has little room. */
function briefly(script: string): string {
  const [head = '', ...rest] = script.split(/\n\n/)
  return [head, rest.join('\n').replace(/^ *#.*\n/gm, '')].join('\n')
}

/** The lines of a watchdog in the script of an instance that is rented again. */
const earlier = /# >>> berth watchdog\n[\s\S]*?# <<< berth watchdog\n/g

/** A start script as its user wrote it. */
export function withoutWatchdog(script: string): string {
  return script.replace(earlier, '')
}

/** A start script with these lines in place of earlier ones: first, but after a line such as `#!/bin/sh`. */
export function withWatchdogFirst(script: string, lines: string): string {
  const [, head = '', rest = ''] = /^(#![^\n]*\n)?([\s\S]*)$/.exec(withoutWatchdog(script)) ?? []
  return `${head}${lines}${rest}`
}

/**
 * The watchdog's config, without its instance's part. Times in seconds; `told` is the account's time of writing. `owner`,
 * the Berth that wrote it, is for Berth alone.
 */
interface ConfigValues extends WatchdogRequest {
  instance?: number
  url: string
  tick: number
  writtenAt?: number
  owner?: string
}

/** The lines of the config file, each `name=value`. */
export function configLines({
  instance,
  url,
  action,
  at,
  idle,
  lease,
  tick,
  writtenAt,
  owner,
}: ConfigValues): string[] {
  const values = {
    instance,
    url,
    action,
    at,
    idle: idle?.seconds,
    below: idle?.below,
    lease,
    tick,
    told: writtenAt,
    owner,
  }
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
}

export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/** The task that a config's values give. */
export function requestIn(read: (name: string) => string | undefined): WatchdogRequest {
  const [at, idle, below, lease] = ['at', 'idle', 'below', 'lease'].map(name => wholeNumber(read(name)))
  return {
    action: read('action') === 'destroy' ? 'destroy' : 'stop',
    at,
    idle: idle === undefined ? undefined : { seconds: idle, below: below ?? 5 },
    lease,
  }
}

/** The task of the watchdog that a start script installs; undefined if it installs none. */
export function requestInScript(onstart: string | undefined): WatchdogRequest | undefined {
  const [lines] = onstart?.match(earlier) ?? []
  if (lines === undefined) return undefined
  const values = [...lines.matchAll(/'([a-z_]+)=([^']*)'/g)]
  const byName = new Map(values.map(([, name = '', value]) => [name, value]))
  return requestIn(name => byName.get(name))
}

/** The watchdog's script, joined from its parts in the order in which the shell reads them. */
export async function watchdogScript(): Promise<string> {
  const parts = await Promise.all([
    import('./script/begin.sh?raw'),
    import('./script/config.sh?raw'),
    import('./script/service.sh?raw'),
    import('./script/time.sh?raw'),
    import('./script/process.sh?raw'),
    import('./script/use.sh?raw'),
    import('./script/decide.sh?raw'),
    import('./script/tell.sh?raw'),
    import('./script/act.sh?raw'),
    import('./script/main.sh?raw'),
  ])
  return parts.map(part => part.default).join('\n')
}
