import * as v from 'valibot'
import type { SshKey } from '../ssh-key.ts'
import { command, onInstance } from './command.ts'

const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))
const StreamId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** Getting in. */
export const accessCommands = {
  /** Opens a shell; its bytes flow in the stream. The stream ends with a Problem when the connection does. */
  openTerminal: command({ ...onInstance, columns: size, rows: size }).answers<{
    stream: number
    address: string
    direct: boolean
  }>(),
  resizeTerminal: command({ stream: StreamId, columns: size, rows: size }).answers<void>(),
  /** Opens the system's own terminal program on it. */
  openSystemTerminal: command(onInstance).answers<void>(),
  sshCommand: command(onInstance).answers<string>(),
  /** Attaches Berth's key, or the one chosen in the settings. */
  attachKey: command(onInstance).answers<void>(),
  /** Accepts a host key that changed, by the fingerprint that was shown. */
  acceptHostKey: command({
    ...onInstance,
    fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'not a fingerprint')),
  }).answers<void>(),
  /** The keys that could get in: Berth's own and those in `~/.ssh`. Public halves only. */
  sshKeys: command({}).answers<readonly SshKey[]>(),
}
