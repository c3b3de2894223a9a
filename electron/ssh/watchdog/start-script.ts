import { gzipSync } from 'node:zlib'
import type { WatchdogRequest } from '#contract/automation/watchdog.ts'
import { configLines } from './config.ts'
import { watchdogScript } from './script/script.ts'

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
  const packed = gzipSync(await watchdogScript(), { level: 9 })
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
