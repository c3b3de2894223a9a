import type { Readable } from 'node:stream'
import type { Scratch } from '../files/scratch.ts'
import type { Machine } from '../machine.ts'
import type { Background } from '../runs/background.ts'
import type { Sink } from './sink.ts'

/** A shell's state between commands. */
export interface ShellState {
  machine: Machine
  files: Scratch
  /** The instance's commands that run without a shell. */
  background: Background
  /** Absolute path. */
  folder: string
  variables: Map<string, string>
  /** Exit status of the last command. */
  status: number
  /** Set by `exit`: the shell ends with it. */
  ending: number | undefined
  /** The terminal; `undefined` without one. */
  terminal: Terminal | undefined
}

export interface Terminal {
  columns: number
  rows: number
  /** Called once they changed. */
  onResize?: () => void
}

/** The streams of a command. */
export interface Streams {
  out: Sink
  err: Sink
  /** Undefined if nothing is typed or piped into the command. */
  input: Readable | undefined
  /** Aborted when the command must end. */
  signal: AbortSignal
}

/** One call of a command. */
export interface Call extends Streams {
  name: string
  /** Without the name. */
  args: string[]
  shell: ShellState
  /** Runs another line, in this shell or in one of its own; gives its exit status. */
  run: (shell: ShellState, line: string, streams: Streams) => Promise<number>
}

/** A command of the scripted shell; gives its exit status. Touches nothing but the scratch folder. */
export type Command = (call: Call) => Promise<number>

/** A path as the user gave it, made absolute. */
export function absolute(shell: ShellState, path: string): string {
  return path.startsWith('/') ? path : `${shell.folder}/${path}`
}
