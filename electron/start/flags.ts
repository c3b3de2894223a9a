import { parseArgs } from 'node:util'
import { tunnelPorts } from '#ssh/tunnels/local-port.ts'

/** The flags of the command line. */
export interface Flags {
  browser: boolean
  /** 0 takes any free one. */
  port: number
  /** Whether browser mode opens the page in a browser. */
  open: boolean
  demo: boolean
  /** Whether to start in the tray without the window; only where there is a tray. */
  hidden: boolean
  /** A `berth://` link to follow, not checked yet. */
  link?: string
  /** How many times faster than real time the demo's world runs. */
  speed: number
}

const options = {
  browser: { type: 'boolean' },
  port: { type: 'string' },
  'no-open': { type: 'boolean' },
  demo: { type: 'boolean' },
  hidden: { type: 'boolean' },
  speed: { type: 'string' },
} as const

/** An unknown flag, or one with an invalid value; the message names it. */
export class FlagError extends Error {
  readonly code = 'bad_flag'
}

const usage = 'Usage: npm start -- [--browser [--port N] [--no-open] | --hidden] [--demo] [--speed N]'

/** Reads the arguments after the program's own. Throws a FlagError. */
export function readFlags(args: readonly string[]): Flags {
  const link = linkAmong(args)
  const { values } = parse(args.filter(arg => arg !== link))
  return {
    browser: values.browser ?? false,
    port: portOfPage(values.port ?? '0'),
    open: !(values['no-open'] ?? false),
    demo: values.demo ?? false,
    hidden: values.hidden ?? false,
    link,
    speed: number('--speed', values.speed ?? '20', speed => speed > 0 && speed <= 100_000),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options,
    })
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error))
  }
}

/** Refuses the tunnels' ports: an instance's page may have stored data in the browser for such a port's origin. */
function portOfPage(text: string): number {
  const port = number('--port', text, value => Number.isInteger(value) && value >= 0 && value <= 65535)
  const { from, to } = tunnelPorts
  if (port >= from && port <= to)
    throw new FlagError(
      `--port cannot be ${port}: ${from} to ${to} are for pages of instances. Take one below or above, or 0 for any.`,
    )
  return port
}

function number(flag: string, text: string, fits: (value: number) => boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!fits(value)) throw new FlagError(`${flag} cannot be ${text}`)
  return value
}

/** Berth's own arguments: under Electron, Chromium's and the desktop's are among them. */
export function ownArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const [name = '', value] = arg.split('=', 2)
    const kind = options[name.replace(/^--/, '') as keyof typeof options]
    if (!name.startsWith('--') || kind === undefined) return []
    const following = args[at + 1]
    return kind.type === 'string' && value === undefined && following !== undefined ? [arg, following] : [arg]
  })
}

/** The arguments of the command `berth`; undefined where the program was not started as that. */
export function cliArguments(args: readonly string[]): string[] | undefined {
  const at = args.indexOf('--cli')
  return at < 0 ? undefined : args.slice(at + 1)
}

/** The unchecked `berth://` link that a desktop put on the command line, if any. */
export function linkAmong(args: readonly string[]): string | undefined {
  return args.find(arg => /^berth:/i.test(arg))
}

/** Why Berth can't start or had to close. */
export interface BerthStartFailure {
  /** In plain words. */
  words: string
  /** The same with the stack, for an unexpected error. */
  trace?: string
  /** The process's exit code: 2 for a wrong flag, 1 for the rest. */
  code: 1 | 2
}

export function berthStartFailure(error: unknown): BerthStartFailure {
  if (error instanceof FlagError) return { words: `${error.message}\n${usage}`, code: 2 }
  if (!(error instanceof Error)) return { words: String(error), code: 1 }
  const code = 'code' in error ? error.code : undefined
  const port = 'port' in error ? error.port : undefined
  if (code === 'EADDRINUSE')
    return { words: `Port ${port} is taken. Choose another with --port, or 0 for any.`, code: 1 }
  if (code === 'EACCES' && port !== undefined)
    return { words: `Port ${port} is not for ordinary users. Choose one above 1023.`, code: 1 }
  // Its message needs no prefix and no stack.
  if (code === 'already_running' || code === 'home_unusable') return { words: error.message, code: 1 }
  return {
    words: `Berth could not start. ${error.message}`,
    trace: error.stack !== undefined ? `Berth could not start. ${error.stack}` : undefined,
    code: 1,
  }
}

/** The failure for an uncaught error. `words` hold no part of the error, since a box on screen shows them. */
export function runFailure(error: unknown): BerthStartFailure {
  return {
    words:
      'An unexpected error closed Berth. Your instances keep running, but nothing monitors them. The log has details.',
    trace: `Berth had to close. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    code: 1,
  }
}

/** Prints the failure on stderr. */
export function printFailure({ words, trace }: BerthStartFailure): void {
  process.stderr.write(`${trace ?? words}\n`)
}

/** Prints why Berth cannot start, and ends the process. */
export function failToStart(error: unknown): never {
  const failure = berthStartFailure(error)
  printFailure(failure)
  process.exit(failure.code)
}
