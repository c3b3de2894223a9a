import { quote } from '#ssh/ssh-command.ts'

/** The project's folder on the machine, relative to the home folder. */
export function remoteFolder(project: string): string {
  return `berth/${project}`
}

/** The file with the environment's values on the machine, readable by its user alone. No command line contains them. */
function environmentFile(job: string): string {
  return `berth/.${job}.env`
}

/** Writes its input to the environment file; prints why it failed. */
export function writeEnvironment(job: string): string {
  const file = quote([environmentFile(job)])
  return `{ cd && mkdir -p berth && umask 077 && cat > ${file}.part && mv ${file}.part ${file}; } 2>&1`
}

export function environmentText(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export ${name}=${quote([value])}\n`)
    .join('')
}

/** A project's command, in its folder and environment. */
export function inProject(job: string, project: string, command: string): string {
  return `cd && . ./${quote([environmentFile(job)])} && cd ${quote([remoteFolder(project)])} || exit 1\n${command}\n`
}

/** Prints the home folder. */
export const homeQuestion = 'printf %s "$HOME"'
