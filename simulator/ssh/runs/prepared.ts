import { createHash } from 'node:crypto'
import { readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import type { Call, ShellState } from '../shell/command.ts'
import { readRegular } from '../shell/sink.ts'
import { has, makeFolder, type Values } from './runs.ts'

/** Tells whether the machine was set up by the same script and files. */
export async function askSetUp(call: Call, values: Values): Promise<number> {
  const { shell, out } = call
  write(shell, place(values, 'next'), values.get('script') ?? '')
  const noted = place(values, 'noted')
  const same =
    values.get('unclear') !== 'yes' &&
    has(shell.files, noted) &&
    readRegular(shell.files, noted).toString() === stateOf(call, values)
  if (!same) remove(shell, noted)
  await out(same ? 'setup same\n' : 'setup other\n')
  return 0
}

export async function noteSetUp(call: Call, values: Values): Promise<number> {
  remove(call.shell, place(values, 'listed'))
  write(call.shell, place(values, 'noted'), stateOf(call, values))
  await call.out('noted yes\n')
  return 0
}

/** Notes which files are in the folder, unless that is noted. */
export async function noteFiles({ shell, out }: Call, values: Values): Promise<number> {
  const listed = place(values, 'listed')
  if (values.get('once') !== 'yes' || !has(shell.files, listed))
    write(shell, listed, filesIn(shell, place(values, 'folder')).join('\n'))
  await out('listed yes\n')
  return 0
}

/** Removes the files that were not there when they were noted. */
export async function removeLeftFiles({ shell, out }: Call, values: Values): Promise<number> {
  const [listed, folder] = [place(values, 'listed'), place(values, 'folder')]
  if (has(shell.files, listed)) {
    const before = new Set(readRegular(shell.files, listed).toString().split('\n'))
    for (const name of filesIn(shell, folder)) if (!before.has(name)) remove(shell, `${folder}/${name}`)
  }
  await out('cleared yes\n')
  return 0
}

/** Removes the files that were sent before and are not any more, and notes which are now. */
export async function removeGoneFiles({ shell, out }: Call, values: Values): Promise<number> {
  const sent = place(values, 'sent')
  const present = values.get('present') ?? ''
  const before = has(shell.files, sent) ? readRegular(shell.files, sent).toString().split('\n') : []
  for (const name of before.toReversed())
    if (!present.split('\n').includes(name)) removeOne(shell, `/root/${values.get('folder') ?? ''}/${name}`)
  write(shell, sent, present)
  await out('sent yes\n')
  return 0
}

/** Removes a file, or an empty folder. */
function removeOne({ files }: ShellState, path: string): void {
  if (!has(files, path)) return
  const { real } = files.at(path, 'stay')
  try {
    if (files.at(path, 'stay').stats?.isDirectory()) rmdirSync(real)
    else rmSync(real)
  } catch {
    // It has other files.
  }
}

/** Folders are kept on a volume as they are: nothing is mounted here. */
export async function keepOnVolume({ out }: Call): Promise<number> {
  await out('kept yes\n')
  return 0
}

/** Takes over the newer files that were copied from another machine, but for those from the seconds before its end. */
export async function takeOver({ shell, out }: Call, values: Values, script: string): Promise<number> {
  const at = (path: string) => `${place(values, 'side')}/${path}`
  const end = has(shell.files, at('alive/alive')) ? Number(readRegular(shell.files, at('alive/alive'))) : 0
  let [found, taken, newest, left] = [0, 0, 0, 0]
  for (const [, number = '', target = ''] of script.matchAll(/^take (\d+) '?([^'\n]+)'?$/gm)) {
    const [name] = has(shell.files, at(number))
      ? readdirSync(shell.files.existing(at(number), 'stay').real)
      : []
    if (name === undefined) continue
    const from = at(`${number}/${name}`)
    const isFolder = shell.files.existing(from, 'stay').stats.isDirectory()
    for (const file of isFolder ? filesIn(shell, from) : ['']) {
      const [source, goal] = [join(from, file), join('/root', target, file)]
      const { real, stats } = shell.files.existing(source, 'stay')
      found += 1
      const modified = Math.floor(stats.mtimeMs / 1000)
      if (modified > end - 15) {
        left += 1
        continue
      }
      makeFolder(shell, dirname(goal))
      renameSync(real, shell.files.at(goal, 'stay').real)
      taken += 1
      newest = Math.max(newest, modified)
    }
  }
  if (has(shell.files, at(''))) rmSync(shell.files.existing(at(''), 'stay').real, { recursive: true })
  await out(`taken over ${found} ${taken} ${newest} ${end} ${left} - ${left}\n`)
  return 0
}

/** Makes the folder into which another machine's results are copied. */
export async function makeSide({ shell, out }: Call, values: Values, script: string): Promise<number> {
  const side = place(values, 'side')
  for (const [, name = ''] of script.matchAll(/"\$side"\/(\w+)/g)) makeFolder(shell, `${side}/${name}`)
  await out(`${side}\n`)
  return 0
}

function stateOf({ shell }: Call, values: Values): string {
  const hash = createHash('sha256').update(readRegular(shell.files, place(values, 'next')))
  for (const name of (values.get('names') ?? '').split('\n')) {
    const path = `${place(values, 'folder')}/${name}`
    if (has(shell.files, path) && shell.files.at(path, 'follow').stats?.isFile())
      hash.update(name).update(readRegular(shell.files, path))
  }
  return hash.digest('hex')
}

function place(values: Values, name: string): string {
  return `/root/${values.get(name) ?? ''}`
}

function write(shell: ShellState, path: string, text: string): void {
  writeFileSync(shell.files.at(path, 'stay').real, text)
}

function remove(shell: ShellState, path: string): void {
  if (has(shell.files, path)) rmSync(shell.files.at(path, 'stay').real)
}

/** The paths of files below a folder, links not followed. */
function filesIn(shell: ShellState, folder: string, below = ''): string[] {
  const { real } = shell.files.existing(`${folder}/${below}`, 'stay')
  return readdirSync(real, { withFileTypes: true }).flatMap(entry => {
    const path = join(below, entry.name)
    return entry.isDirectory() ? filesIn(shell, folder, path) : [path]
  })
}
