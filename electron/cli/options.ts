/** An option: its `parseArgs` type, its usage in the help, and its meaning. */
interface Option {
  type: 'string' | 'boolean'
  short?: string
  usage: string
  summary: string
}

/** The options of some subcommands. */
export const someOptions = {
  account: {
    type: 'string',
    usage: '--account ACCOUNT',
    summary: 'Use that account only, by name or id',
  },
  json: { type: 'boolean', usage: '--json', summary: 'Print JSON' },
  yes: { type: 'boolean', usage: '--yes', summary: 'Confirm' },
  follow: { type: 'boolean', short: 'f', usage: '-f, --follow', summary: 'Wait until it ends' },
  quiet: { type: 'boolean', short: 'q', usage: '-q, --quiet', summary: 'Print only ids' },
  offer: {
    type: 'string',
    usage: '--offer ID',
    summary: 'Rent that offer from the plan instead of the best one',
  },
  'secret-files': {
    type: 'string',
    usage: '--secret-files send|skip',
    summary: 'Send or skip files that look like secrets',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof someOptions

/** The options of every subcommand. */
export const alwaysOptions = {
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
