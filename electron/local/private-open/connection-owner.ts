import { readFile } from 'node:fs/promises'

/** The end of a connection over IPv4. */
export interface End {
  address: string
  port: number
}

/** The system's list of connections, as text; empty where it tells none. */
export type Connections = () => Promise<string>

const states = { established: '01', listening: '0A' }

/** Linux's list, of both families: some programs reach IPv4 by a socket of IPv6. */
export async function systemConnections(): Promise<string> {
  const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map(path => readFile(path, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).join('\n')
}

/** The user id of whoever holds that end of a connection; undefined when the list does not tell. */
export function ownerOf(list: string, end: End, other: End): number | undefined {
  return holderOf(list, written(end), written(other), states.established)
}

/** The user id of whoever listens there; undefined when the list does not tell. */
export function listenerAt(list: string, end: End): number | undefined {
  return holderOf(list, written(end), ['00000000:0000'], states.listening)
}

function holderOf(
  list: string,
  ends: readonly string[],
  others: readonly string[],
  wanted: string,
): number | undefined {
  for (const line of list.split('\n')) {
    const [, end = '', other = '', state, , , , owner] = line.trim().split(/\s+/)
    // Of a connection that is ending the list says that it is root's.
    if (state === wanted && ends.includes(end) && others.includes(other)) return Number(owner)
  }
  return undefined
}

/** `0100007F:1F90` as one family writes it, and as the other does: the bytes of an address from its last to its first. */
function written({ address, port }: End): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0')
  const bytes = address.split('.').map(byte => hex(Number(byte), 2))
  const plain = `${bytes.toReversed().join('')}:${hex(port, 4)}`
  return [plain, `0000000000000000FFFF0000${plain}`]
}
