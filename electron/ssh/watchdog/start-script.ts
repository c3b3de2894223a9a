import { gzipSync } from 'node:zlib'
import type { WatchdogRequest } from '../../contract/automation/watchdog.ts'
import { configLines } from './config.ts'
import { watchdogScript } from './script/script.ts'

/**
 * Lines for a rental's start script that put the watchdog there before anybody gets in, and bring it back at every
 * start. They hold no key: that is the container's own. Which instance it is the container may know (`CONTAINER_ID`);
 * else Berth tells it on its first visit. What Berth has changed meanwhile stays.
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
