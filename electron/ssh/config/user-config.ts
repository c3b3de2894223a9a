import { readFile, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BerthError } from '#contract/problem.ts'
import { editInPlace, FileBusy } from './edit-in-place.ts'

/** The user's own `~/.ssh/config`, with one line of Berth's in it. */
export interface UserConfig {
  /**
   * Adds the line that includes a file; returns the created parts. Throws `ssh_config_path` or
   * `ssh_config_not_written`.
   */
  include(path: string): Promise<Made>
  /** Whether the line is still there: the user may have removed it. Throws `ssh_config_path`. */
  includes(path: string): Promise<boolean>
  /** Removes the line, and the file and folder that Berth created if they are empty. Throws as `include` does. */
  exclude(path: string, made: Made): Promise<void>
}

/** Whether Berth created the file and the folder, since they did not exist. */
export interface Made {
  file: boolean
  folder: boolean
}

export function userConfig(home: string): UserConfig {
  const folder = join(home, '.ssh')
  const path = join(folder, 'config')

  return {
    async include(included) {
      const line = asBytes(includeLine(included))
      const made = { file: false, folder: !(await isThere(folder)) }
      await edit(path, line, text => {
        made.file = text === undefined
        return withLine(text ?? '', line)
      })
      return made
    },
    async includes(included) {
      const text = await readFile(path, 'latin1').catch(() => '')
      return hasLine(text, asBytes(includeLine(included)))
    },
    async exclude(included, made) {
      const line = asBytes(includeLine(included))
      await edit(path, line, text => {
        const rest = text === undefined ? undefined : withoutLine(text, line)
        return rest === '' && made.file ? undefined : rest
      })
      // Fails if the folder is not empty.
      if (made.folder) await rmdir(folder).catch(() => undefined)
    },
  }
}

async function edit(
  path: string,
  line: string,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  try {
    await editInPlace(path, change)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new BerthError({
      code: 'ssh_config_not_written',
      message:
        error instanceof FileBusy
          ? `${path} kept changing while Berth edited it, so it was left alone.`
          : `${path} could not be written${reason}, so it was left as it is.`,
      advice: 'Edit it by hand if another program keeps it: the line is shown below.',
      facts: { line: Buffer.from(line, 'latin1').toString('utf8') },
    })
  }
}

/** UTF-8 bytes as latin1 text, which is how `editInPlace` reads the file. */
function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/**
 * The line that makes ssh read another file. Throws `ssh_config_path` for a path that ssh would not read literally:
 * newer versions expand percent and dollar signs in it.
 */
function includeLine(path: string): string {
  const plain = path.replaceAll('\\', '/')
  if (/[%$"\p{Cc}]/u.test(plain)) throw unusablePath(path)
  // ssh reads the quoted text as a glob pattern.
  return `Include "${plain.replaceAll(/[*?[\]]/g, '\\$&')}"`
}

/** Puts the line at the top, unless it is there: below a `Host`, it would apply to that host alone. */
function withLine(config: string, line: string): string {
  const [first = ''] = config.split('\n', 1)
  return first.replace(/\r$/, '') === line ? config : `${line}\n${config}`
}

/** Whether the line is anywhere in the config. */
function hasLine(config: string, line: string): boolean {
  return config.split('\n').some(one => one.trim() === line)
}

/** Removes the line wherever it is, and leaves every other byte as it is. */
function withoutLine(config: string, line: string): string {
  return config
    .split(/(?<=\n)/)
    .filter(one => one.trim() !== line)
    .join('')
}

function unusablePath(path: string): BerthError {
  return new BerthError({
    code: 'ssh_config_path',
    message: `The folder of Berth’s files, in ${path}, has special characters in its name that ssh would misread.`,
    advice: 'Move it to a folder without %, $ or quotes in its name (BERTH_HOME).',
  })
}
