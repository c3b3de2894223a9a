import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { command, onInstance } from '#contract/commands/command.ts'
import type { MainMessage, PageMessage } from '#contract/messages.ts'
import { CallerName } from '#shared/spending/spender.ts'
import { readOwnFile } from '../platform/own-file.ts'

/**
 * The address at which the command finds Berth: a Unix socket in Berth's own folder, which no other user can enter.
 * Where that is not possible (Windows has pipes instead, and a socket's path has a limit), each run draws a random
 * address and a secret, and writes both to a file in that folder. The file of a killed Berth stays, and another user
 * could wait at its address: so anyone who answers there proves first that it knows the secret.
 */
interface Address {
  address: string
  /** Absent in Berth's own folder. */
  secret?: string
}

/** The proof of knowing an address's secret, for the nonce of the one who asks. */
export function socketProof(secret: string, nonce: string): string {
  return createHmac('sha256', secret).update(nonce).digest('hex')
}

/** The most bytes of a socket's path; the limit of macOS is the lowest. */
const longestPath = 103
const fileName = 'socket-address'

/** The address in Berth's folder; undefined where that is not possible. */
function plainAddress(home: string, platform: NodeJS.Platform): string | undefined {
  const path = join(home, 'berth.sock')
  return platform === 'win32' || Buffer.byteLength(path) > longestPath ? undefined : path
}

/** The address of Berth's socket, if it runs; undefined where none is known. */
export async function findAddress(home: string, platform: NodeJS.Platform): Promise<Address | undefined> {
  const plain = plainAddress(home, platform)
  if (plain !== undefined) return { address: plain }
  const [address, secret] = (await readOwnFile(join(home, fileName)).catch(() => '')).split('\n')
  return address && secret ? { address, secret } : undefined
}

/** An address to listen at, and the function that removes it. Berth's folder must exist and be locked. */
export async function takeAddress(
  home: string,
  platform: NodeJS.Platform,
  random: (digits: number) => string,
): Promise<Address & { leave(): Promise<void> }> {
  const plain = plainAddress(home, platform)
  if (plain !== undefined) return { address: plain, leave: () => rm(plain, { force: true }) }
  const file = join(home, fileName)
  const secret = random(64)
  // Other users can see these names, so each run has another: nobody can wait at it for the next run's command.
  const folder = platform === 'win32' ? undefined : await mkdtemp('/tmp/berth-')
  const address = folder === undefined ? `\\\\.\\pipe\\berth-${random(32)}` : join(folder, 'berth.sock')
  await writeFile(file, `${address}\n${secret}`, { mode: 0o600 })
  return {
    address,
    secret,
    async leave() {
      await rm(file, { force: true })
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The most bytes of one message to Berth. */
export const longestLine = 1024 * 1024

const lineFeed = 10

/** The wire format of the command's socket: one JSON text per line, with the bytes of `data` in base64. */
export function encodeLine(message: PageMessage | MainMessage): string {
  const sent =
    message.kind === 'data' ? { ...message, bytes: Buffer.from(message.bytes).toString('base64') } : message
  return `${JSON.stringify(sent)}\n`
}

/** The message of a line, of which only the outer form is checked; undefined where that is wrong. */
export function decodeLine(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line)
    if (typeof message !== 'object' || message === null) return undefined
    if (!('kind' in message) || message.kind !== 'data') return message
    const bytes = 'bytes' in message && typeof message.bytes === 'string' ? message.bytes : ''
    return { ...message, bytes: new Uint8Array(Buffer.from(bytes, 'base64')) }
  } catch {
    return undefined
  }
}

/** Calls back for each line, and once for a line longer than `most` bytes, after which it ignores all others. */
export function onLines(
  socket: Socket,
  onLine: (line: string) => void,
  most = Number.POSITIVE_INFINITY,
  onTooLong: () => void = () => undefined,
): void {
  let pieces: Buffer[] = []
  let length = 0
  let hasEnded = false

  function take(piece: Buffer): void {
    length += piece.length
    pieces.push(piece)
  }

  socket.on('data', (chunk: Buffer) => {
    for (let from = 0; from < chunk.length && !hasEnded; ) {
      const end = chunk.indexOf(lineFeed, from)
      take(chunk.subarray(from, end < 0 ? chunk.length : end))
      if (length > most) {
        hasEnded = true
        pieces = []
        onTooLong()
      } else if (end >= 0) {
        const line = Buffer.concat(pieces).toString('utf8')
        pieces = []
        length = 0
        onLine(line)
      }
      from = end < 0 ? chunk.length : end + 1
    }
  })
}

/**
 * The requests that the command has besides the page's commands. Only the user can reach the socket, so these may name
 * a path and end Berth, which a page may not.
 */
export const localRequests = {
  /** From here on its commands are those of an agent or a script of that name. Only the first one of a connection counts. */
  introduce: command({ kind: v.picklist(['agent', 'script']), name: CallerName }).answers<void>(),
  /** Proves that this Berth wrote the address at which it is asked. */
  prove: command({ nonce: v.pipe(v.string(), v.maxLength(256)) }).answers<string>(),
  /** The system's ssh and its arguments to connect to an instance; attaches the key first. `opens`: it is run with them. */
  sshArguments: command({ ...onInstance, opens: v.boolean() }).answers<readonly string[]>(),
  /** Makes a folder a project, by its absolute path; answers its id. Throws `no_such_folder`. */
  registerProject: command({
    folder: v.pipe(
      v.string(),
      v.maxLength(4096, 'at most 4096 characters'),
      v.check(path => isAbsolute(path) && !path.includes('\0'), 'enter an absolute path'),
    ),
  }).answers<string>(),
  /** Shows Berth's window, or opens its page in the browser. */
  openPage: command({}).answers<void>(),
  /** Ends Berth without asking. */
  quit: command({}).answers<void>(),
}
