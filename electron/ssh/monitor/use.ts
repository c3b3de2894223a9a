import type { Clock } from '#platform/platform.ts'
import { isUsedBy, type UsedBy } from '#shared/automation/use.ts'
import type { Connection } from '../connection/connection.ts'
import { runScript } from '../exec.ts'
import { busiest, loadQuestion } from './metrics.ts'

/** Seconds since somebody last used a machine, and by what; without both if nobody did, as far as can be told there. */
export interface UseReading {
  secondsAgo?: number
  by?: UsedBy
  /** The load of its busiest GPU in percent, where it tells. */
  load?: number
}

/** Milliseconds for the answer, and the most bytes of it. */
const bounds = { within: 20_000, most: 4096 }
const print = `home=\${HOME:-/root} seen=
read_use
echo "use \${used:--} \${used_by:--}"
${loadQuestion} 2> /dev/null | sed 's/^/load /'`

/** Reads who uses a machine, and its GPUs; undefined where it can't tell. Throws as `runScript` does. */
export async function readUse(connection: Connection, clock: Clock): Promise<UseReading | undefined> {
  const { default: script } = await import('../watchdog/script/use.sh?raw')
  const { text } = await runScript(connection, {}, [script, print], { clock, ...bounds })
  const [, seconds, by] = /^use (\d{1,12}|-) ([a-z]+|-)$/m.exec(text) ?? []
  if (seconds === undefined) return undefined
  const load = busiest(text.replaceAll(/^(?!load ).*$/gm, '').replaceAll(/^load /gm, ''))
  return {
    ...(isUsedBy(by) && seconds !== '-' && { secondsAgo: Number(seconds), by }),
    ...(load !== undefined && { load }),
  }
}
