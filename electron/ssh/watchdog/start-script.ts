import { gzipSync } from 'node:zlib'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'

/**
 * Lines for a rental's start script that install the watchdog before anybody connects, and start it at every start of
 * the container. They contain no API key: the watchdog uses the container's own. The instance's id comes from the
 * container (`CONTAINER_ID`), or from Berth when it first connects. A config that Berth has changed meanwhile is kept.
 */
export async function watchdogStartScript(
  request: WatchdogRequest,
  url: string,
  tick: number,
): Promise<string> {
  const packed = gzipSync(briefly(await watchdogScript()), { level: 9 })
    .toString('base64')
    .replace(/.{76}/g, '$&\n')
  const lines = configLines({ ...request, url, tick }).map(line => `'${line.replaceAll("'", `'\\''`)}'`)
  return `# >>> berth watchdog
( umask 077; d=\${HOME:-/root}/.berth/watchdog; mkdir -p "$d"
[ -f "$d/config" ] || { base64 -d << 'BERTH' | gzip -dc > "$d/watchdog.sh" && printf '%s\\n' ${lines.join(' ')} 'key=container' > "$d/config"; }
${packed}
BERTH
sh "$d/watchdog.sh" start )
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

/** A start script with these lines in place of earlier ones: first, but after a line such as `#!/bin/sh`. */
export function withWatchdogFirst(script: string, lines: string): string {
  const [, head = '', rest = ''] = /^(#![^\n]*\n)?([\s\S]*)$/.exec(script.replace(earlier, '')) ?? []
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
