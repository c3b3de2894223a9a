import { BerthError } from '#contract/problem.ts'

/**
 * The line that makes ssh read another file. Throws `ssh_config_path` for a path that ssh would not read literally:
 * newer versions expand percent and dollar signs in it.
 */
export function includeLine(path: string): string {
  const plain = path.replaceAll('\\', '/')
  if (/[%$"\p{Cc}]/u.test(plain)) throw unusablePath(path)
  // ssh reads the quoted text as a glob pattern.
  return `Include "${plain.replaceAll(/[*?[\]]/g, '\\$&')}"`
}

/** Puts the line at the top, unless it is there: below a `Host`, it would apply to that host alone. */
export function withLine(config: string, line: string): string {
  const [first = ''] = config.split('\n', 1)
  return first.replace(/\r$/, '') === line ? config : `${line}\n${config}`
}

/** Whether the line is anywhere in the config. */
export function hasLine(config: string, line: string): boolean {
  return config.split('\n').some(one => one.trim() === line)
}

/** Removes the line wherever it is, and leaves every other byte as it is. */
export function withoutLine(config: string, line: string): string {
  return config
    .split(/(?<=\n)/)
    .filter(one => one.trim() !== line)
    .join('')
}

function unusablePath(path: string): BerthError {
  return new BerthError({
    code: 'ssh_config_path',
    message: `The folder of Berth’s files, in ${path}, has signs in its name that ssh takes for something else.`,
    advice: 'Move it to a folder without %, $ or quotes in its name (BERTH_HOME).',
  })
}
