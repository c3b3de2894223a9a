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

/**
 * Prints the names of a few programs that a run's command started and that still run after it has ended: those of its
 * session. A session's first process that is there is another's, which got its number after a restart.
 */
export function stillAtWork(run: string): string {
  const script = `
read -r pid < "\${HOME:-/root}/.berth/runs/${run}/pid" || exit 0
if [ -d "/proc/$pid" ] && ! grep -qs '^State:.Z' "/proc/$pid/status"; then exit 0; fi
for stat in /proc/[0-9]*/stat; do
  read -r line < "$stat" || continue
  set -- \${line##*) }
  [ "$1" != Z ] && [ "$4" = "$pid" ] || continue
  name=\${line#*(}; echo "\${name%)*}"
done | sort -u | head -n 3`
  return `sh -c ${quote([script])} 2>/dev/null`
}

/** Prints the home folder. */
export const homeQuestion = 'printf %s "$HOME"'
