import type { Readable } from 'node:stream'
import type { Scratch } from '../files/scratch.ts'
import type { Machine } from '../machine.ts'
import type { Background } from '../runs/background.ts'
import type { Sink } from './sink.ts'

/** What a shell remembers from one command to the next. */
export interface ShellState {
  machine: Machine
  files: Scratch
  /** What goes on on the instance without a shell. */
  background: Background
  /** Absolute path. */
  folder: string
  variables: Map<string, string>
  /** Exit status of the last command. */
  status: number
  /** Set by `exit`: the shell ends with it. */
  ending: number | undefined
  /** The terminal in front of it; without one, `undefined`. */
  terminal: Terminal | undefined
  history: string[]
}

export interface Terminal {
  columns: number
  rows: number
}

/** What a command reads and writes. */
export interface Streams {
  out: Sink
  err: Sink
  /** Undefined where nothing is typed or piped into the command. */
  input: Readable | undefined
  /** Fires when the command is to end. */
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
