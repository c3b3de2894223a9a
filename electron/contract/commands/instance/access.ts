import * as v from 'valibot'
import { KeyName } from '#contract/instance/ssh-key.ts'
import { type OpenedTerminal, type TmuxShell, TmuxShellName } from '#contract/instance/terminal.ts'
import { command, onInstance } from '../command.ts'

const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))
const StreamId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** SSH access. */
export const accessCommands = {
  /**
   * Opens a shell on a stream, which ends with a Problem when the connection is lost. If shells live in tmux, it
   * resumes the one named `session`; without a name and unless `fresh`, any that nobody is connected to.
   */
  openTerminal: command({
    ...onInstance,
    columns: size,
    rows: size,
    session: v.optional(TmuxShellName),
    fresh: v.optional(v.boolean()),
    /** The page reopens it by itself, so this is no action of the user's. */
    again: v.optional(v.boolean()),
  }).answers<OpenedTerminal>(),
  /** The scrollback of a shell in tmux, at most `scrollback` lines, with its escape sequences. */
  shellHistory: command({ ...onInstance, session: TmuxShellName }).answers<string>(),
  /** The shells in the instance's tmux; no `shells` if it is not installed. `kept`: new shells go there. */
  tmuxShells: command(onInstance).answers<{ kept: boolean; shells?: readonly TmuxShell[] }>(),
  /** Sets whether this instance's shells live in tmux; without `keep`, the settings decide. */
  keepShells: command({ ...onInstance, keep: v.optional(v.boolean()) }).answers<void>(),
  resizeTerminal: command({ stream: StreamId, columns: size, rows: size }).answers<void>(),
  /** Opens SSH to it in a terminal program of this machine. */
  openSystemTerminal: command(onInstance).answers<void>(),
  sshCommand: command(onInstance).answers<string>(),
  /** Attaches a key, by default the one in the settings. */
  attachKey: command({ ...onInstance, key: v.optional(KeyName) }).answers<void>(),
  /** Accepts a changed host key with the fingerprint that was shown. */
  acceptHostKey: command({
    ...onInstance,
    fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'not a fingerprint')),
  }).answers<void>(),
}
