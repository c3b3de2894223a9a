import { readFile } from 'node:fs/promises'

/** One end of an IPv4 connection. */
export interface End {
  address: string
  port: number
}

/** The system's list of connections as text; empty where there is none. */
export type Connections = () => Promise<string>

const states = { established: '01', listening: '0A' }

/** Linux's lists of both families: some programs reach IPv4 through an IPv6 socket. */
export async function systemConnections(): Promise<string> {
  const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map(path => readFile(path, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).join('\n')
}

/** The user id of the process at that end of a connection; undefined where the list has no such entry. */
export function ownerOf(list: string, end: End, other: End): number | undefined {
  return holderOf(list, written(end), written(other), states.established)
}

/** The user id of the process that listens there; undefined where the list has no such entry. */
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
    // The list attributes a closing connection to root.
    if (state === wanted && ends.includes(end) && others.includes(other)) return Number(owner)
  }
  return undefined
}

/** An end as the IPv4 list (`0100007F:1F90`) and the IPv6 list write it: the address's bytes from last to first. */
function written({ address, port }: End): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0')
  const bytes = address.split('.').map(byte => hex(Number(byte), 2))
  const plain = `${bytes.toReversed().join('')}:${hex(port, 4)}`
  return [plain, `0000000000000000FFFF0000${plain}`]
}
