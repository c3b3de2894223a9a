import type { Clock } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import { outputOf } from '../exec.ts'
import { quote } from '../ssh-command.ts'
import { addressText, type Candidate } from './addresses.ts'
import type { Connection } from './connection.ts'

/** What tells an instance from others with the same host key. */
export interface OwnMark {
  instance: number
  /** The mark in the environment with which Berth rented it; undefined if Berth didn't. */
  mark: string | undefined
}

/** Milliseconds for the instance to name its marks, and the most bytes. */
const bounds = { within: 10_000, most: 4096 }

/**
 * Prints the variables by which a container knows what it is, of its first process and then of the session, which also
 * has them where an SSH server is that process and has overwritten its own.
 */
const question = `sh -c ${quote([
  `{ tr '\\0' '\\n' < /proc/1/environ; env; printf 'VAST_CONTAINERLABEL='; cat ~/.vast_containerlabel; } 2>/dev/null |
  grep -E '^(BERTH_RENTAL|CONTAINER_ID|VAST_CONTAINERLABEL)=.'`,
])}`

/** Where an instance answered, and who else has its host key. */
interface Answered {
  way: Candidate['way']
  /** Whether instances of other accounts do, whose service may have given a wrong address and number on purpose. */
  isForeign: boolean
}

/**
 * Whether the instance itself answered: by the mark that was sent with its rental, which no other has, else by the
 * service's number of its container. Without either, one that Berth rented is believed at an address that the service
 * gave for it; where another account's instance has the key, only the mark counts. Throws `ssh_other_instance` if
 * another one answered.
 */
export async function tellByMark(
  connection: Connection,
  clock: Clock,
  own: OwnMark,
  { way, isForeign }: Answered,
): Promise<'own' | 'unknown'> {
  // An image whose shell runs no commands names nothing.
  const { text } = await outputOf(connection, question, { clock, ...bounds }).catch(() => ({ text: '' }))
  const found = markIn(text)
  const isOwn = isOwnMark(found, own)
  if (isOwn === 'no') throw otherInstance(connection, found.container)
  if (isOwn === 'by mark') return 'own'
  if (isForeign) return 'unknown'
  return isOwn === 'by number' || (own.mark !== undefined && way !== 'guess') ? 'own' : 'unknown'
}

/** The marks in a container's variables, one `NAME=value` a line. */
export function markIn(text: string): { rental?: string; container?: number } {
  const lines = text.split('\n').map(line => line.trim())
  const readValue = (pattern: RegExp) => lines.flatMap(line => pattern.exec(line)?.[1] ?? [])[0]
  const container = readValue(/^CONTAINER_ID=(\d{1,15})$/) ?? readValue(/^VAST_CONTAINERLABEL=C\.(\d{1,15})$/)
  return {
    rental: readValue(/^BERTH_RENTAL=(r[0-9a-f]{16})$/),
    container: container === undefined ? undefined : Number(container),
  }
}

/** Whether these marks are the instance's own; undefined where they say nothing. */
export function isOwnMark(
  { rental, container }: ReturnType<typeof markIn>,
  { instance, mark }: OwnMark,
): 'by mark' | 'by number' | 'no' | undefined {
  if (rental !== undefined && mark !== undefined) return rental === mark ? 'by mark' : 'no'
  if (container === undefined) return undefined
  return container === instance ? 'by number' : 'no'
}

function otherInstance({ address }: Connection, container: number | undefined): BerthError {
  return new BerthError({
    code: 'ssh_other_instance',
    message: `Another instance${container === undefined ? '' : `, #${container},`} answers at ${addressText(address)}.`,
    advice: 'The address may have just changed hands. Try again; if it lasts, restart the instance.',
  })
}
