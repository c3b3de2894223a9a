import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { CliError, cliAnswers } from './answers.ts'
import { cliCommands } from './commands.ts'
import { exitCodes } from './failure.ts'
import { optionsOf } from './options.ts'

/** What the exit codes mean, as in the help. */
const meanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'Done',
  failed: 'Something failed; of several instances, at least one',
  usage: 'Wrong usage',
  unreachable: 'Berth isn’t running, and couldn’t be started',
  refused: '--yes, --secret-files or --allow is required, or another user owns this Berth',
  unknown: 'No such instance, run, project or account',
  command: 'run --follow: the command failed with a code from 1 to 6; any higher code is its own',
  capped:
    'A cap of the name in --as or over everything, or what you permit it, forbids it: error.refusal says which',
}

/** The whole command for programs: subcommands, options, exit codes, and what each prints with `--json` as JSON Schema. */
export function description() {
  return {
    usage: 'berth COMMAND [OPTIONS] [OPERANDS]',
    notes: [
      'INSTANCE is an id or a label. Amounts are in US dollars, times ISO 8601, spans in seconds unless named otherwise.',
      'What costs money, or destroys, needs --yes; without it, run and rent print what it can cost at most, and exit with 4.',
      'An error with --json is one line on stderr. Fields are added, never renamed.',
    ],
    commands: Object.entries(cliCommands).map(([name, { operands, summary, options }]) => ({
      name,
      operands,
      summary,
      options: optionsOf(options).map(
        ([option, { short, type, usage, summary: meaning, multiple = false }]) => ({
          name: `--${option}`,
          short: short === undefined ? null : `-${short}`,
          value: type === 'string' ? usage.replace(/^\S+ /, '') : null,
          multiple,
          summary: meaning,
        }),
      ),
      answers: (cliAnswers[name] ?? []).map(({ when = null, isLine = false, schema }) => ({
        when,
        perLine: isLine,
        schema: jsonSchema(schema),
      })),
    })),
    exitCodes: Object.entries(exitCodes).map(([name, code]) => ({
      code,
      meaning: meanings[name as keyof typeof exitCodes],
    })),
    error: jsonSchema(CliError),
  }
}

function jsonSchema(schema: v.GenericSchema) {
  const { $schema: _, ...shape } = toJsonSchema(schema)
  return shape
}
