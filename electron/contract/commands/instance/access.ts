import * as v from 'valibot'
import { KeyName } from '../../instance/ssh-key.ts'
import { type OpenedTerminal, type TmuxShell, TmuxShellName } from '../../instance/terminal.ts'
import { command, onInstance } from '../command.ts'

const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))
const StreamId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** Getting in. */
export const accessCommands = {
  /**
   * Opens a shell; its bytes flow in the stream. The stream ends with a Problem when the connection does. Where shells
   * live in tmux, it goes on with the one of that name, or with one that nobody is connected to unless it is to be
   * `fresh`.
   */
  openTerminal: command({
    ...onInstance,
    columns: size,
    rows: size,
    session: v.optional(TmuxShellName),
    fresh: v.optional(v.boolean()),
    /** It was open before and goes on by itself: nothing that the user did. */
    again: v.optional(v.boolean()),
  }).answers<OpenedTerminal>(),
  /** What scrolled out of the sight of a shell in tmux, `scrollback` lines of it at most, with its escapes. */
  shellHistory: command({ ...onInstance, session: TmuxShellName }).answers<string>(),
  /** The shells that live in the instance's tmux; without `shells`, it has none. `kept`: new ones go there. */
  tmuxShells: command(onInstance).answers<{ kept: boolean; shells?: readonly TmuxShell[] }>(),
  /** Whether this instance's shells live in tmux; without `keep`, as the settings say. */
  keepShells: command({ ...onInstance, keep: v.optional(v.boolean()) }).answers<void>(),
  resizeTerminal: command({ stream: StreamId, columns: size, rows: size }).answers<void>(),
  /** Opens the system's own terminal program on it. */
  openSystemTerminal: command(onInstance).answers<void>(),
  sshCommand: command(onInstance).answers<string>(),
  /** Attaches a key; without one, that which the settings say. */
  attachKey: command({ ...onInstance, key: v.optional(KeyName) }).answers<void>(),
  /** Accepts a host key that changed, by the fingerprint that was shown. */
  acceptHostKey: command({
    ...onInstance,
    fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'not a fingerprint')),
  }).answers<void>(),
}
