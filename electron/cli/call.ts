import type { Waiting } from '#shared/automation/waiting.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { SpecChange } from '#shared/project/spec.ts'
import type { AccountView, State } from '#shared/state.ts'
import type { BerthConnection } from './connection.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import type { Given, OptionName } from './options.ts'

/** One call of the command: its parsed arguments, and its connection and outputs. */
export interface Call {
  /** The arguments after the subcommand, without options. */
  operands: readonly string[]
  account: string | undefined
  json: boolean
  yes: boolean
  follow: boolean
  quiet: boolean
  /** All that agents rented. */
  agents: boolean
  /** How to treat files that look like secrets. */
  secretFiles: 'send' | 'skip' | undefined
  /** What the project may use of the user's: `secret:HF_TOKEN`. */
  allow: readonly string[]
  /** The id of an offer. */
  offer: number | undefined
  /** The name, id or folder of a project. */
  project: string | undefined
  /** What counts in place of a project's file. */
  change: SpecChange | undefined
  given: Given
  connection: BerthConnection
  /** The name of `--as`. */
  as: string | undefined
  /** Another connection, of the same name, once Berth was started again. */
  reach(): Promise<BerthConnection>
  /** Writes to stdout. */
  write(text: string): void
  /** Writes a line to stderr. */
  say(line: string): void
}

/** A subcommand. */
export interface CliCommand {
  /** The usage of its operands: `INSTANCE`. */
  operands: string
  /** The least and most operands. */
  takes: readonly [least: number, most: number]
  summary: string
  options: readonly OptionName[]
  /** Set where an agent is at the other end: its name without `--as`. */
  agent?: string
  /** Set where the subcommand never starts Berth. */
  startsNone?: true
  /** Gives the exit code, or undefined for 0. Throws a CliFailure. */
  run(call: Call): Promise<number | undefined>
}

/** An instance and its account. */
export interface FoundInstance {
  account: AccountView
  instance: InstanceView
}

/** Milliseconds to wait for the services' first answers. */
const patience = 20_000

/** Gives State once every account was polled or failed to answer. */
export function polledState(call: Call): Promise<State> {
  const isPolled = ({ accounts }: State) =>
    Object.values(accounts).every(({ connection }) => connection.status !== 'connecting')
  return stateOnce(call, isPolled, patience)
}

/** Gives State once it is as wanted, or else as it is after so many milliseconds. */
export async function stateOnce(
  { connection }: Call,
  isWanted: (state: State) => boolean,
  within: number,
): Promise<State> {
  const until = performance.now() + within
  for (;;) {
    const state = await connection.state()
    const left = until - performance.now()
    if (isWanted(state) || left <= 0) return state
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, left)
    })
    await Promise.race([connection.change(), late]).finally(() => clearTimeout(timer))
  }
}

/**
 * Says which accounts are shown as last known, and why. Gives the exit code: such an answer is none that a script may take
 * for the present.
 */
export function sayWhatIsOld({ say }: Call, accounts: readonly AccountView[]): number | undefined {
  for (const { name, connection, uncertain } of accounts) {
    if ('problem' in connection)
      say(
        [`${name}: last known state.`, connection.problem.message, connection.problem.advice]
          .filter(Boolean)
          .join(' '),
      )
    else if (connection.status === 'connecting')
      say(`${name}: last known state. The service hasn’t answered yet.`)
    else if (uncertain) say(`${name}: ${uncertain.reason}`)
  }
  return accounts.every(({ connection }) => connection.status === 'online') ? undefined : exitCodes.failed
}

/** Says that there is no account, and the exit code of that: it may be that they could not be read. */
export function sayNoAccount({ say }: Call, { notices }: State): number | undefined {
  const broken = notices['berth/file-accounts']
  say(
    broken ? `${broken.title}. ${broken.body}` : 'No account is connected. Connect one in Berth: berth open',
  )
  return broken ? exitCodes.failed : undefined
}

/** The account of that name or id, or all without `--account`. */
export function accountsOf({ account }: Call, state: State): AccountView[] {
  const all = Object.values(state.accounts)
  if (account === undefined) return all
  const named = all.filter(({ id, name }) => id === account || name === account)
  if (named.length === 1) return named
  throw new CliFailure(exitCodes.unknown, {
    code: 'no_such_account',
    message:
      named.length === 0
        ? `No account has the name or id ${account}.`
        : `${named.length} accounts are named ${account}.`,
    advice: `Berth knows ${all.map(({ id, name }) => `${name} (${id})`).join(', ') || 'none'}.`,
  })
}

/** The instance with that id or label. */
export function findInstance(call: Call, state: State, word: string): FoundInstance {
  const all = accountsOf(call, state).flatMap(account =>
    Object.values(account.instances).map(instance => ({ account, instance })),
  )
  const number = /^#?(\d+)$/.exec(word)?.[1]
  const found = all.filter(({ instance: { id, label } }) =>
    number === undefined ? label === word : id === Number(number),
  )
  const [first] = found
  if (first === undefined)
    throw new CliFailure(exitCodes.unknown, {
      code: 'no_such_instance',
      message: `No instance has the id or label ${word}.`,
      advice: 'List them: berth ps',
    })
  if (found.length > 1)
    throw usageFailure(
      `${found.length} instances are named ${word}: ${found
        .map(({ account, instance }) => `#${instance.id} of ${account.name}`)
        .join(', ')}. Use the id, and --account if two accounts have it.`,
    )
  return first
}

export function print({ write }: Call, value: unknown): void {
  write(`${JSON.stringify(value, undefined, 2)}\n`)
}

/** Micro-dollars as exact dollars. */
export function cliDollars(micros: number): number {
  return micros / 1_000_000
}

/** Epoch seconds as an ISO 8601 time, as in all JSON output. */
export function isoTime(at: number): string {
  return new Date(at * 1000).toISOString()
}

/** What a run waits for, in JSON. Scripts rely on these fields: they are added, never renamed. */
export function waitingJson(waiting: Waiting | undefined) {
  if (!waiting) return null
  const { for: what, since, problem, nextTryAt, givesUpAt } = waiting
  return {
    for: what,
    since: isoTime(since),
    lastError: problem ? { code: problem.code, message: problem.message } : null,
    nextTry: nextTryAt === undefined ? null : isoTime(nextTryAt),
    givesUp: givesUpAt === undefined ? null : isoTime(givesUpAt),
  }
}

/** Rows in columns of their content's width; columns whose head begins with `>` are right-aligned. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const right = heads.map(head => head.startsWith('>'))
  const names = heads.map(head => head.replace('>', ''))
  const all = [names, ...rows.map(row => row.map(plain))]
  const widths = names.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (right[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return `${all.map(line).join('\n')}\n`
}

/** Replaces control characters, since a service or a host may have chosen the text. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
