import { quote } from '../../../ssh/ssh-command.ts'

/** Where a project lies on its machine, below the home folder there. */
export function remoteFolder(project: string): string {
  return `berth/${project}`
}

/** Where the values of its environment lie there, for its user alone. They are in no command line. */
function environmentFile(job: string): string {
  return `berth/.${job}.env`
}

/** Reads the environment from its input; prints why it could not. */
export function writeEnvironment(job: string): string {
  const file = quote([environmentFile(job)])
  return `{ cd && mkdir -p berth && umask 077 && cat > ${file}.part && mv ${file}.part ${file}; } 2>&1`
}

export function environmentText(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export ${name}=${quote([value])}\n`)
    .join('')
}

/** A command of the project, in its folder and its environment. */
export function inProject(job: string, project: string, command: string): string {
  return `cd && . ./${quote([environmentFile(job)])} && cd ${quote([remoteFolder(project)])} || exit 1\n${command}\n`
}

/** Prints the home folder there. */
export const homeQuestion = 'printf %s "$HOME"'
