import { destroy, start, stop } from './act.ts'
import type { CliCommand } from './call.ts'
import { doctor } from './doctor.ts'
import { env } from './env.ts'
import { limit } from './limit.ts'
import { logs } from './logs.ts'
import { rent, search } from './market.ts'
import { mcp } from './mcp.ts'
import { move } from './move.ts'
import { open, quit } from './open-and-quit.ts'
import { optionsOf } from './options.ts'
import { project } from './project.ts'
import { ps } from './ps.ts'
import { report } from './report.ts'
import { run } from './run-project.ts'
import { spend } from './spend.ts'
import { ssh } from './ssh.ts'

/** The subcommands that talk to Berth, in the order of the help. */
export const cliCommands: Readonly<Record<string, CliCommand>> = {
  ps,
  search,
  rent,
  ssh,
  start,
  stop,
  limit,
  destroy,
  report,
  run,
  move,
  project,
  logs,
  spend,
  env,
  doctor,
  mcp,
  open,
  quit,
}

export const shells = ['bash', 'zsh', 'fish'] as const

/**
 * The completion script for a shell: subcommands, options and instances. It queries a running Berth, and starts none.
 */
export function completion(shell: (typeof shells)[number]): string {
  const commands = Object.entries(cliCommands)
  const names = [...commands.map(([name]) => name), 'completion'].join(' ')
  const onInstances = commands
    .filter(([, { operands }]) => operands.includes('INSTANCE'))
    .map(([name]) => name)
  const instances = 'berth ps --quiet --no-start 2>/dev/null'
  if (shell === 'fish')
    return [
      'complete -c berth -f',
      `complete -c berth -n __fish_use_subcommand -a '${names}'`,
      `complete -c berth -n '__fish_seen_subcommand_from ${onInstances.join(' ')}' -a '(${instances})'`,
      "complete -c berth -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'",
      "complete -c berth -n '__fish_seen_subcommand_from project' -a 'add ls'",
      "complete -c berth -n '__fish_seen_subcommand_from run project' -F",
      ...commands.map(
        ([name, command]) =>
          `complete -c berth -n '__fish_seen_subcommand_from ${name}' ${longOptions(command)
            .map(option => `-l ${option.slice(2)}`)
            .join(' ')}`,
      ),
      '',
    ].join('\n')

  const cases = commands.map(([name, command]) => {
    const choices = [
      ...longOptions(command),
      ...(onInstances.includes(name) ? [`$(${instances})`] : []),
      ...(name === 'project' ? ['add', 'ls'] : []),
    ]
    return `    ${name}) choices="${choices.join(' ')}" ;;`
  })
  return [
    // zsh supports bash's completions.
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_berth() {',
    `  local choices="${names}"`,
    `  if (( COMP_CWORD > 1 )); then case ${wordAt('1')} in`,
    ...cases,
    '    completion) choices="bash zsh fish" ;;',
    '    *) choices="" ;;',
    '  esac; fi',
    `  COMPREPLY=($(compgen -W "$choices" -- ${wordAt('COMP_CWORD')}))`,
    '}',
    'complete -o default -F _berth berth',
    '',
  ].join('\n')
}

/** A word of the typed line, in bash. */
function wordAt(index: string): string {
  return `"\${COMP_WORDS[${index}]}"`
}

function longOptions({ options }: CliCommand): string[] {
  return optionsOf(options).map(([name]) => `--${name}`)
}
