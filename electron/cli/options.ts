import * as v from 'valibot'
import { usualKeep } from '#shared/project/project-defaults.ts'
import type { SpecChange } from '#shared/project/spec.ts'
import { StartTime } from '#shared/project/start-time.ts'
import { textsIn, variableProblem } from '#shared/project/variables.ts'
import { usageFailure } from './failure.ts'

/** An option: its `parseArgs` type, its usage in the help, and its meaning. */
interface Option {
  type: 'string' | 'boolean'
  /** Whether it can be given several times. */
  multiple?: true
  short?: string
  usage: string
  summary: string
}

/** The options of some subcommands. */
export const someOptions = {
  account: {
    type: 'string',
    usage: '--account ACCOUNT',
    summary: 'Use only this account, by name or id',
  },
  json: { type: 'boolean', usage: '--json', summary: 'Print JSON' },
  yes: { type: 'boolean', usage: '--yes', summary: 'Confirm without asking' },
  follow: { type: 'boolean', short: 'f', usage: '-f, --follow', summary: 'Wait until it ends' },
  quiet: { type: 'boolean', short: 'q', usage: '-q, --quiet', summary: 'Print only ids' },
  offer: {
    type: 'string',
    usage: '--offer ID',
    summary: 'Rent this offer of the plan instead of the best one',
  },
  'secret-files': {
    type: 'string',
    usage: '--secret-files send|skip',
    summary: 'Send or skip files that look like secrets',
  },
  allow: {
    type: 'string',
    multiple: true,
    usage: '--allow USE',
    summary: 'Let the project use what its plan asks for, such as secret:HF_TOKEN',
  },
  agents: { type: 'boolean', usage: '--agents', summary: 'Stop all that agents rented' },
  project: { type: 'string', usage: '--project PROJECT', summary: 'List the runs of this project' },
  set: {
    type: 'string',
    multiple: true,
    usage: '--set NAME=A,B',
    summary: 'Run once for each value, or each combination of several names; quotes keep a comma',
  },
  runs: { type: 'string', usage: '--runs N', summary: 'Run N times, or N times for each setting' },
  nodes: {
    type: 'string',
    usage: '--nodes N',
    summary: 'Run on N machines of one cluster together',
  },
  'at-once': { type: 'string', usage: '--at-once N', summary: 'Use at most N machines at a time' },
  keep: {
    type: 'string',
    usage: '--keep TIME',
    summary: `Keep the machine for the next run, such as ${usualKeep / 60}m or 2h; 0 to not keep it`,
  },
  start: {
    type: 'string',
    usage: '--start TIME',
    summary: 'Begin at that time, such as 02:00 or "daily 02:00"; now to begin at once',
  },
  wait: {
    type: 'string',
    usage: '--wait TIME',
    summary: 'Wait so long for an offer within machine.price, such as 12h; 0 to not wait',
  },
  gpus: { type: 'string', usage: '--gpus N', summary: 'At least N GPUs' },
  memory: { type: 'string', usage: '--memory GB', summary: 'At least this memory on each GPU' },
  'max-price': { type: 'string', usage: '--max-price DOLLARS', summary: 'At most this price per hour' },
  disk: { type: 'string', usage: '--disk GB', summary: 'A disk of this size, which the price includes' },
  image: { type: 'string', usage: '--image IMAGE', summary: 'Start this Docker image' },
  label: { type: 'string', usage: '--label TEXT', summary: 'Name the instance' },
  for: {
    type: 'string',
    usage: '--for TIME',
    summary: 'Destroy the machine with its files after a time such as 2h',
  },
  asleep: {
    type: 'boolean',
    usage: '--asleep',
    summary: 'Also while this computer sleeps, by a watchdog: a small program on the instance',
  },
  message: { type: 'string', usage: '--message TEXT', summary: 'Words for the host, at most 512 characters' },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof someOptions

/** Options that subcommands read themselves, as typed. */
export type Given = Partial<
  Record<'gpus' | 'memory' | 'max-price' | 'disk' | 'image' | 'label' | 'for' | 'message', string> &
    Record<'asleep', boolean>
>

/** The options of every subcommand. */
export const alwaysOptions = {
  as: {
    type: 'string',
    usage: '--as NAME',
    summary: 'Act as the script of that name, within its caps',
  },
  'no-start': {
    type: 'boolean',
    usage: '--no-start',
    summary: 'Fail if Berth isn’t running, instead of starting it',
  },
  help: { type: 'boolean', short: 'h', usage: '-h, --help', summary: 'Show this help' },
} as const satisfies Record<string, Option>

/** A subcommand's options with the common ones, in the order of its help. */
export function optionsOf(names: readonly OptionName[]): [name: string, option: Option][] {
  return [
    ...names.map((name): [string, Option] => [name, someOptions[name]]),
    ...Object.entries(alwaysOptions),
  ]
}

/** The options that change what a project's file says. */
interface SweepWords {
  set?: readonly string[] | undefined
  runs?: string | undefined
  'at-once'?: string | undefined
  keep?: string | undefined
  start?: string | undefined
  wait?: string | undefined
  nodes?: string | undefined
}

/** `--set lr=1e-4,3e-4 --runs 8 --at-once 3 --keep 20m --nodes 4`; undefined without any of them. Throws a CliFailure. */
export function specChangeOf(words: SweepWords): SpecChange | undefined {
  const change: SpecChange = {
    sweep: words.set && gridOf(words.set),
    runs: wholeOf('--runs', words.runs),
    atOnce: wholeOf('--at-once', words['at-once']),
    keep: secondsOrNone('--keep', words.keep),
    start: startOf(words.start),
    wait: secondsOrNone('--wait', words.wait),
    nodes: wholeOf('--nodes', words.nodes),
  }
  return Object.values(change).some(value => value !== undefined) ? change : undefined
}

function startOf(word: string | undefined): SpecChange['start'] {
  if (word === undefined || word === 'now') return word
  const { success, output } = v.safeParse(StartTime, word)
  if (!success) throw usageFailure('--start takes a time such as 02:00, "daily 02:00", or now.')
  return output
}

/** `lr=1e-4,3e-4`, and `text="a, b"` for one value with a comma. A name that is repeated gets further values. */
function gridOf(words: readonly string[]): Record<string, string[]> {
  const grid = new Map<string, string[]>()
  for (const word of words) {
    const [, name = '', list = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
    if (name === '') throw usageFailure('--set takes a name and its values, such as lr=1e-4,3e-4.')
    const wrong = variableProblem(name)
    if (wrong !== undefined) throw usageFailure(`--set ${name} ${wrong}.`)
    const read = textsIn(list)
    if ('problem' in read) throw usageFailure(`--set ${word}: ${read.problem}.`)
    grid.set(name, [...(grid.get(name) ?? []), ...read.texts])
  }
  return Object.fromEntries(grid)
}

function wholeOf(option: string, word: string | undefined): number | undefined {
  if (word === undefined) return undefined
  if (!/^[1-9]\d{0,3}$/.test(word)) throw usageFailure(`${option} takes a number of at least 1.`)
  return Number(word)
}

/** A number above 0, such as `0.5`. Throws a CliFailure. */
export function numberOf(option: string, word: string | undefined): number | undefined {
  if (word === undefined) return undefined
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(word) || Number(word) <= 0)
    throw usageFailure(`${option} takes a number above 0.`)
  return Number(word)
}

/** `20m` and `2h` in seconds, or 0. Throws a CliFailure. */
function secondsOrNone(option: string, word: string | undefined): number | undefined {
  return word === '0' ? 0 : secondsOf(option, word, ', or 0')
}

/** `20m` and `2h` in seconds, more than 0. Throws a CliFailure. */
export function secondsOf(option: string, word: string | undefined, or = ''): number | undefined {
  if (word === undefined) return undefined
  const [, hours = 0, minutes = 0] = /^(?=.)(?:(\d{1,3})h)?(?:(\d{1,4})m)?$/.exec(word) ?? []
  const seconds = Number(hours) * 3600 + Number(minutes) * 60
  if (seconds === 0) throw usageFailure(`${option} takes a time such as 20m or 2h${or}.`)
  return seconds
}
