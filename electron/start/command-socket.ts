import { chmod, lstat, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import * as v from 'valibot'
import type { MainMessage } from '#contract/messages.ts'
import { createDispatcher, type Dispatch, type HandlersOf } from '#core/bridge/dispatcher.ts'
import { BerthError } from '#shared/problem.ts'
import { notPermitted, type Spender, spenderOf, spenderParts } from '#shared/spending/spender.ts'
import { problemOf } from '../core/bridge/problems.ts'
import type { RunningBerth } from '../core/running.ts'
import type { Random } from '../platform/platform.ts'
import {
  decodeLine,
  encodeLine,
  localRequests,
  longestLine,
  onLines,
  socketProof,
  takeAddress,
} from './socket-lines.ts'

/** Queued bytes at which a client's streams and patches are paused, and at which it is disconnected. */
const fullAt = 1024 * 1024
const mostWaiting = 64 * 1024 * 1024
const mostClients = 64

export interface CommandSocketOptions {
  /** Berth's folder, locked by this process. */
  home: string
  berth: Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>
  random: Random
  log: (line: string) => void
  openPage: () => unknown
  /** Ends Berth in order. */
  quit: () => unknown
}

/**
 * Opens the socket for the command `berth`, for this user alone. A client is treated like a page, with the same
 * messages, dispatcher and checks, and has the local requests besides. Never rejects: Berth also runs without it. Gives
 * the function that closes it.
 */
export async function openCommandSocket(options: CommandSocketOptions): Promise<() => Promise<void>> {
  try {
    return await listen(options)
  } catch (error) {
    options.log(`the command’s socket was not opened: ${error instanceof Error ? error.message : error}`)
    return async () => undefined
  }
}

async function listen({ home, berth, random, log, openPage, quit }: CommandSocketOptions) {
  const { address, secret = '', leave } = await takeAddress(home, process.platform, random.hex)
  const ask = createDispatcher(
    localRequests,
    {
      introduce: async () => undefined,
      prove: async ({ nonce }) => socketProof(secret, nonce),
      sshArguments: berth.sshArguments,
      registerProject: ({ folder }) => berth.registerProject(folder),
      openPage: async () => void openPage(),
      // After the answer was sent.
      quit: async () => void setImmediate(quit),
    } satisfies HandlersOf<typeof localRequests>,
    log,
  )
  const isFile = process.platform !== 'win32'
  if (isFile) await removeStale(address)
  const clients = new Set<Socket>()
  const server = createServer(client => {
    clients.add(client)
    client.once('close', () => clients.delete(client))
    serveClient(client, berth, ask)
  })
  server.maxConnections = mostClients
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
  server.on('error', error => log(`the command’s socket: ${error.message}`))
  // Until here the folder's mode keeps others out.
  if (isFile) await chmod(address, 0o600)
  return async () => {
    const closed = new Promise(resolve => server.close(resolve))
    for (const client of clients) client.destroySoon()
    // Does not wait for a client that does not read its last answer.
    const impatience = setTimeout(() => {
      for (const client of clients) client.destroy()
    }, 300)
    await closed
    clearTimeout(impatience)
    await leave()
  }
}

/** Removes the socket of a killed Berth. Throws where another program answers, and where it is no socket. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) throw new Error(`${path} isn’t a socket`)
  if (await isAnswered(path)) throw new Error(`another program answers at ${path}`)
  await rm(path, { force: true })
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const attempt = connect(path)
    const done = (answered: boolean) => {
      attempt.destroy()
      resolve(answered)
    }
    attempt.once('connect', () => done(true))
    attempt.once('error', error => done(!('code' in error) || error.code !== 'ECONNREFUSED'))
  })
}

function serveClient(client: Socket, berth: CommandSocketOptions['berth'], ask: Dispatch): void {
  /** The agent or script at the other end. */
  let by: Spender | undefined

  function send(message: MainMessage): boolean {
    if (client.destroyed || client.writableEnded) return true
    client.write(encodeLine(message))
    // The client sends requests and reads no answers.
    if (client.writableLength > mostWaiting) client.destroy()
    return client.writableLength < fullAt
  }

  function refuse(message: string): void {
    send({ kind: 'refusal', call: 0, problem: { code: 'bad_message', message } })
    client.destroySoon()
  }

  /** Before anything else of the same message, so that no command of an agent passes for the user's. */
  function introduced(name: string, args: unknown): void {
    if (name !== 'introduce' || by !== undefined) return
    const checked = v.safeParse(localRequests.introduce.args, args)
    if (checked.success) by = spenderOf(checked.output.kind, checked.output.name)
  }

  async function answer(call: number, name: string, args: unknown): Promise<void> {
    introduced(name, args)
    try {
      if (!isAllowed(name)) throw new BerthError(notPermitted(nameOf(by), 'This'))
      send({ kind: 'answer', call, answer: await ask(name, args, {}) })
    } catch (error) {
      send({ kind: 'refusal', call, problem: problemOf(error) })
    }
  }

  /** No name ends Berth, which holds its caps. An agent has no other local request either: they name paths and log in. */
  function isAllowed(name: string): boolean {
    const { kind } = spenderParts(by) ?? {}
    if (kind === undefined || name === 'introduce' || name === 'prove') return true
    return kind !== 'agent' && name !== 'quit'
  }

  const link = berth.connectPage(send, undefined, () => by)
  client.on('error', () => client.destroy())
  client.on('close', () => link.close())
  client.on('drain', () => link.drained())
  onLines(
    client,
    line => {
      if (client.writableEnded) return
      const message = decodeLine(line)
      if (message === undefined) refuse('A message is an object in JSON, on one line.')
      else if (isLocal(message)) void answer(message.call, message.name, message.args)
      else link.receive(message)
    },
    longestLine,
    () => refuse(`A message has at most ${longestLine} bytes.`),
  )
}

/** Whether it is one of the local requests, which pages may not send. */
function isLocal(message: unknown): message is { call: number; name: string; args: unknown } {
  if (typeof message !== 'object' || message === null || !('name' in message) || !('call' in message))
    return false
  const { name, call } = message
  return typeof name === 'string' && Object.hasOwn(localRequests, name) && Number.isSafeInteger(call)
}

function nameOf(by: Spender | undefined): string {
  return spenderParts(by)?.name ?? 'this'
}
