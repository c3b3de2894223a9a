import { randomBytes } from 'node:crypto'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { homeError, makeHome } from '../start/home.ts'
import { findAddress, socketProof } from '../start/socket-lines.ts'
import { BerthConnection } from './connection.ts'
import { CliFailure, exitCodes } from './failure.ts'

/** How to start Berth: a program and its arguments. */
export interface Launch {
  program: string
  args: readonly string[]
}

/** Milliseconds to wait for the started Berth and, once that ended, for one that another command is starting. */
const patience = 30_000
const others = 5_000

/**
 * Connects to the Berth on that folder, and starts one with `launch` where none runs, which `onStarted` is told. Throws a
 * CliFailure.
 */
export async function reachBerth(
  home: string,
  launch: Launch | undefined,
  onStarted: () => void = () => undefined,
): Promise<BerthConnection> {
  const running = await tryToConnect(home)
  if (running) return running
  if (!launch)
    throw new CliFailure(exitCodes.unreachable, { code: 'not_running', message: 'Berth isn’t running.' })
  const { ended, words } = await start(home, launch).catch(error => {
    const { message } = homeError(home, error)
    throw new CliFailure(exitCodes.unreachable, { code: 'home_unusable', message })
  })
  const begun = performance.now()
  let until = begun + patience
  void ended.then(() => {
    until = Math.min(until, performance.now() + others)
  })
  while (performance.now() < until) {
    await pause(50)
    const started = await tryToConnect(home)
    if (!started) continue
    onStarted()
    return started
  }
  throw notStarted(home, (await words()) || 'Berth was started but doesn’t answer.')
}

function notStarted(home: string, message: string): CliFailure {
  return new CliFailure(exitCodes.unreachable, {
    code: 'not_started',
    message,
    advice: `Its log is ${join(home, 'logs', 'berth.log')}.`,
  })
}

async function tryToConnect(home: string): Promise<BerthConnection | undefined> {
  try {
    const found = await findAddress(home, process.platform)
    if (!found) return undefined
    const connection = await BerthConnection.open(found.address)
    if (found.secret === undefined || (await isBerth(connection, found.secret))) return connection
    connection.close()
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EACCES' && code !== 'EPERM') return undefined
    throw new CliFailure(exitCodes.refused, {
      code: 'not_yours',
      message: `The Berth in ${home} belongs to another user.`,
      advice: 'Each user has their own Berth; BERTH_HOME sets its folder.',
    })
  }
}

/** Whether the one that answers knows the secret, within a few seconds. */
async function isBerth(connection: BerthConnection, secret: string): Promise<boolean> {
  const nonce = randomBytes(32).toString('hex')
  const proof = await Promise.race([
    connection.local('prove', { nonce }).catch(() => undefined),
    pause(others, undefined, { ref: false }),
  ])
  return proof === socketProof(secret, nonce)
}

/** Starts Berth detached, so that it outlives this command. Its stderr goes to a file, for errors at the start. */
async function start(home: string, { program, args }: Launch) {
  const { spawn } = await import('node:child_process')
  const logs = join(home, 'logs')
  makeHome(logs)
  const path = join(logs, 'start.txt')
  // A pipe in its place would be waited for.
  await rm(path, { recursive: true, force: true })
  const file = await open(path, 'w', 0o600)
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'ignore', file.fd],
    windowsHide: true,
  })
  const ended = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  child.unref()
  await file.close()
  return { ended, words: async () => (await readFile(path, 'utf8').catch(() => '')).trim().split('\n')[0] }
}
