import type { SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { keyTitle } from '../keys/key-problems.ts'
import type { LoadedKey } from '../keys/keys.ts'
import { addressText } from './addresses.ts'

/** No server answers, or it is not an SSH server. `why` is a clause such as `the connection was refused`. */
export function unreachable(address: SshAddress, why: string): BerthError {
  return new BerthError({
    code: 'ssh_unreachable',
    message: `SSH does not answer at ${addressText(address)}: ${why}.`,
    advice: 'A machine that just started may need another minute. Try again, or check its status.',
  })
}

export function timedOut(address: SshAddress | undefined): BerthError {
  const place = address === undefined ? '' : ` at ${addressText(address)}`
  return new BerthError({
    code: 'ssh_timeout',
    message: `SSH did not answer in time${place}.`,
    advice: 'Try again. If it still doesn’t answer, its host may be gone: try another offer.',
  })
}

/** A command of Berth's began and did not end in time: the instance answers, but something on it hangs. */
export function commandSilent(address: SshAddress): BerthError {
  return new BerthError({
    code: 'ssh_timeout',
    message: `The instance at ${addressText(address)} answers, but did not finish a command in time.`,
    advice: 'Try again. It may be overloaded, or its disk or its GPU driver may hang.',
  })
}

/**
 * SSH works, but the login shell never began a command: it ended before, with an exit code, or something else runs in
 * its place. `lastLine`: its last output, made harmless.
 */
export function shellReplaced(address: SshAddress, lastLine: string, exit: number | undefined): BerthError {
  const what =
    exit === undefined ? 'does not run commands' : `ended with exit code ${exit} instead of running a command`
  return new BerthError({
    code: 'shell_replaced',
    message: `SSH works at ${addressText(address)}, but the shell there ${what}.${lastLine === '' ? '' : ` It said: “${lastLine}”`}`,
    advice:
      'Its start file (~/.bashrc or the like) takes over the session. Put `[ -t 0 ] || return` on top of that file, then try again.',
  })
}

export function isShellReplaced(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'shell_replaced'
}

export function isTimeout(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'ssh_timeout'
}

export function keyRefused(address: SshAddress, key: LoadedKey): BerthError {
  return new BerthError({
    code: 'key_refused',
    message: `${addressText(address)} refused ${keyTitle(key.name)} (${key.fingerprint}).`,
    advice: 'Attach this key to the instance, then try again. Some instances need a restart first.',
    facts: { key: key.name, fingerprint: key.fingerprint },
  })
}

/** An open connection was lost. */
export function connectionLost(address: SshAddress, why: string): Problem {
  return {
    code: 'ssh_closed',
    message: `The connection to ${addressText(address)} was lost: ${why}.`,
    advice: 'Connect again.',
  }
}

/** The server refused another session on a connection that stands, which the next lease avoids. */
export function connectionFull(why: string): BerthError {
  return new BerthError({
    code: 'ssh_full',
    message: `The instance’s SSH server allows no more sessions on this connection: ${why}.`,
    advice: 'Try again to open another connection, or close a shell first.',
  })
}

export function isConnectionFull(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'ssh_full'
}

/** Berth closed the connection itself: the instance is gone, or Berth is quitting. */
export function closedHere(): BerthError {
  return new BerthError({
    code: 'ssh_closed',
    message: 'The connection was closed because the instance is gone or Berth is quitting.',
  })
}

/** Why nothing that came over a connection need be whole; undefined while it stands. */
export async function whyEnded({
  lost,
  hasEnded,
}: {
  lost: Promise<Problem | undefined>
  hasEnded(): boolean
}): Promise<BerthError | undefined> {
  if (!hasEnded()) return undefined
  const problem = await lost
  return problem ? new BerthError(problem) : closedHere()
}

export function shellRefused(address: SshAddress, why: string): BerthError {
  return new BerthError({
    code: 'shell_refused',
    message: `${addressText(address)} accepted the login but opened no shell: ${why}.`,
    advice: 'The image may have no shell. Try again, or rent with another image.',
  })
}

/** The reason in an error of the socket or the resolver, as a clause. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return (
    reasons[code] ?? (error instanceof Error && error.message !== '' ? plain(error.message) : 'no reason')
  )
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ENETDOWN: 'the network is down',
  ETIMEDOUT: 'the host did not answer',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
}

/** A server's message as one line of printable ASCII, at most 200 characters. */
function plain(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, 200)
}
