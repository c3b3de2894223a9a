import type { Clock } from '#platform/platform.ts'
import type { Connection } from '../connection/connection.ts'
import { openExec, outputOf } from '../exec.ts'
import { quote } from '../ssh-command.ts'
import { plainLines } from './plain-output.ts'
import type { WatchedMetrics } from './watch-metrics.ts'

/** Usual paths of the start script's output, on various deployments. */
const usual = [
  '/var/log/onstart.log',
  '/root/onstart.log',
  '/workspace/onstart.log',
  '/var/log/onstart.sh.log',
  '/var/log/entrypoint.log',
]
/** The most files that are taken from the start script's redirections. */
const mostNamed = 10
/** The most characters of a start script that are read. */
const longestScript = 256 * 1024
/** `> /file`, `&>>/file`, `| tee -a /file`. */
const outputs = /(?:>|\btee[ \t]{1,8}(?:-a[ \t]{1,8})?)[ \t]{0,8}(\/[A-Za-z0-9._/-]{1,255})/g
/** Existing lines that are shown first. */
const linesBefore = 500

/** Paths where the start script's log may be: the usual ones, and the files that the script writes its output to. */
export function logPlaces(startScript: string | undefined): string[] {
  const named = new Set<string>()
  for (const [, path = ''] of (startScript ?? '').slice(0, longestScript).matchAll(outputs)) {
    if (!path.startsWith('/dev/')) named.add(path)
    if (named.size === mostNamed) break
  }
  return [...new Set([...usual, ...named])]
}

/** The first of these files that exists. Throws as `outputOf` does. */
export async function findLog(
  connection: Connection,
  places: readonly string[],
  clock: Clock,
): Promise<string | undefined> {
  const { text } = await outputOf(connection, `ls -1d ${quote(places)}`, {
    clock,
    within: 10_000,
    most: 16_384,
  })
  const there = new Set(text.split('\n').map(line => line.trim()))
  return places.find(place => there.has(place))
}

/**
 * The file's last lines and all that follow, as plain text. Throws `shell_replaced`, `ssh_timeout`, `ssh_full` or
 * `ssh_closed`.
 */
export async function followLog(connection: Connection, path: string, clock: Clock): Promise<WatchedMetrics> {
  const exec = await openExec(connection, clock, `tail -n ${linesBefore} -F ${quote([path])}`)
  await exec.begun
  const stream = plainLines()
  exec.output.once('close', () => stream.end())
  exec.output.pipe(stream)
  const closed = new Promise<undefined>(resolve => {
    stream.once('close', () => {
      exec.channel.signal('TERM')
      exec.close()
      resolve(undefined)
    })
  })
  return { stream, ended: Promise.race([closed, connection.lost]) }
}
