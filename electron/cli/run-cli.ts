import { parseArgs } from 'node:util'
import { berthHome } from '#start/home.ts'
import type { Call, CliCommand } from './call.ts'
import { cliCommands, completion, shells } from './commands.ts'
import type { BerthConnection } from './connection.ts'
import { description } from './describe.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import { alwaysOptions, type OptionName, optionsOf, someOptions, specChangeOf } from './options.ts'
import { type Launch, reachBerth } from './reach.ts'

/** Runs the command `berth`; gives its exit code. `launch` starts Berth. */
export async function runCli(args: readonly string[], launch: Launch): Promise<number> {
  // The reader may close the pipe early, as `head` does.
  process.stdout.on('error', () => process.exit(exitCodes.failed))
  try {
    return await run(args, launch)
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error
    const { problem } = error
    const { code, message, advice, refusal } = problem
    if (args.includes('--json'))
      process.stderr.write(`${JSON.stringify({ error: { code, message, advice, refusal } })}\n`)
    else say([message, advice].filter(Boolean).join(message.includes('\n') ? '\n' : ' '))
    return error.exitCode
  }
}

async function run(args: readonly string[], launch: Launch): Promise<number> {
  const { values, positionals } = parse(args)
  const [name, ...operands] = positionals
  if (values.describe) return printDescription(positionals)
  if (name === undefined || name === 'help') {
    process.stdout.write(help())
    return name === undefined && !values.help ? exitCodes.usage : exitCodes.done
  }
  if (name === 'completion') return printCompletion(operands)
  const command = Object.hasOwn(cliCommands, name) ? cliCommands[name] : undefined
  if (!command) throw usageFailure(`Unknown command: ${name}.`)
  if (values.help) {
    process.stdout.write(helpOf(name, command))
    return exitCodes.done
  }
  check(name, command, operands, values)
  const secretFiles = secretFilesOf(values['secret-files'])
  const offer = offerOf(values.offer)
  const change = specChangeOf(values)
  const home = berthHome(process.env, process.platform)
  const isStarting = !values['no-start'] && !command.startsNone
  const { agent } = command
  const caller = values.as ?? agent
  async function reach(): Promise<BerthConnection> {
    const reached = await reachBerth(home, isStarting ? launch : undefined, () => {
      if (!values.quiet) say('Started Berth in the background. berth quit ends it.')
    })
    if (caller !== undefined) await introduce(reached, agent === undefined ? 'script' : 'agent', caller)
    return reached
  }
  const connection = await reach()
  const { account, json = false, yes = false, follow = false, quiet = false, agents = false } = values
  const call: Call = {
    operands,
    account,
    json,
    yes,
    follow,
    quiet,
    agents,
    secretFiles,
    allow: values.allow ?? [],
    offer,
    project: values.project,
    change,
    given: values,
    connection,
    as: caller,
    reach,
    write: text => void process.stdout.write(text),
    say,
  }
  try {
    return (await command.run(call)) ?? exitCodes.done
  } finally {
    connection.close()
  }
}

/** Replaces control characters, since a stranger may have written parts of the text. */
function say(text: string): void {
  process.stderr.write(
    `${text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu, '\ufffd')}\n`,
  )
}

/** Its commands are those of the agent or script from here on. */
async function introduce(connection: BerthConnection, kind: 'agent' | 'script', name: string): Promise<void> {
  try {
    await connection.local('introduce', { kind, name })
  } catch (error) {
    connection.close()
    if (error instanceof CliFailure && error.problem.code === 'invalid_argument')
      throw usageFailure(`--as takes a name: ${error.problem.message}`)
    throw error
  }
}

function secretFilesOf(word: string | undefined): Call['secretFiles'] {
  if (word === undefined || word === 'send' || word === 'skip') return word
  throw usageFailure('--secret-files takes send, or skip.')
}

function offerOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined
  if (!/^[1-9]\d{0,14}$/.test(word)) throw usageFailure('--offer takes the id of an offer.')
  return Number(word)
}

function parse(args: readonly string[]) {
  try {
    const options = { ...someOptions, ...alwaysOptions, describe: { type: 'boolean' } } as const
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // Node adds how to pass the option as an operand, which no subcommand takes.
    throw usageFailure(message.replace(/ To specify a positional.*/s, ''))
  }
}

function check(
  name: string,
  { options: own, takes: [least, most], operands: what }: CliCommand,
  operands: readonly string[],
  values: Partial<Record<OptionName, unknown>>,
): void {
  const names = Object.keys(someOptions) as OptionName[]
  const foreign = names.find(option => values[option] !== undefined && !own.includes(option))
  if (foreign !== undefined) throw usageFailure(`Unknown option for berth ${name}: --${foreign}.`)
  if (operands.length < least || operands.length > most)
    throw usageFailure(
      what === '' ? `berth ${name} takes no more arguments.` : `berth ${name} takes ${what}.`,
    )
}

function printCompletion([word, ...more]: readonly string[]): number {
  const shell = shells.find(each => each === word)
  if (shell === undefined || more.length > 0)
    throw usageFailure(`berth completion takes ${shells.join('|')}.`)
  process.stdout.write(completion(shell))
  return exitCodes.done
}

/** Programs learn from it what they can do, without Berth. */
function printDescription(operands: readonly string[]): number {
  if (operands.length > 0) throw usageFailure('berth --describe takes no more arguments.')
  process.stdout.write(`${JSON.stringify(description(), undefined, 2)}\n`)
  return exitCodes.done
}

/** The help of the command as a whole. */
function help(): string {
  const commands = Object.entries(cliCommands).map(
    ([name, { operands, summary }]) => [`${name} ${operands}`, summary] as const,
  )
  return [
    'Usage: berth COMMAND',
    '',
    'Commands:',
    ...listed([...commands, [`completion ${shells.join('|')}`, 'Print a completion script for that shell']]),
    '',
    'INSTANCE is an id or a label. Options:',
    ...listed([
      ...optionLines([]),
      ['--describe', 'Print commands, options, answers and exit codes as JSON'],
    ]),
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 Berth isn’t running, 4 needs --yes or belongs to another user,',
    '5 no such instance, run, project or account; of run -f 6: the command failed with a code up to 6, and above that',
    'the command’s own code; 77 a cap of the name in --as forbids it. With --json an error is {"error": {"code", "message", "advice"}}.',
    '',
  ].join('\n')
}

/** The help of one subcommand. */
function helpOf(name: string, { operands, summary, options }: CliCommand): string {
  return [
    `Usage: berth ${name} [OPTIONS] ${operands}`.trimEnd(),
    '',
    `${summary}.`,
    '',
    ...listed(optionLines(options)),
    '',
  ].join('\n')
}

function optionLines(names: CliCommand['options']): [string, string][] {
  return optionsOf(names).map(([, { usage, summary }]) => [usage, summary])
}

function listed(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([what]) => what.trimEnd().length))
  return lines.map(([what, words]) => `  ${what.trimEnd().padEnd(width)}  ${words}`)
}
