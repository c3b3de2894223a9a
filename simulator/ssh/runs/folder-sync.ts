import {
  closeSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path/posix'
import { setTimeout } from 'node:timers/promises'
import { type Entry, extract, pack } from 'tar-stream'
import type { Call, ShellState } from '../shell/command.ts'
import { readRegular } from '../shell/sink.ts'
import { has, makeFolder, type Values } from './runs.ts'

/** Prints what is at and below the paths in the script's `set --`, as `find -printf` does. Links aren't followed. */
export async function listFolder(
  { shell, out, signal }: Call,
  values: Values,
  script: string,
): Promise<number> {
  const remote = values.get('remote') ?? ''
  await setTimeout(Number(values.get('after')) * 1000, undefined, { signal, ref: false })
  if (values.get('make')) makeFolder(shell, remote)
  if (!has(shell.files, remote)) {
    await out('berth-sync refused\n')
    return 0
  }
  const [, starts = ''] = /^set -- (.*)$/m.exec(script) ?? []
  await out(`berth-sync ok gnu ${Math.floor(Date.now() / 1000)}\n\0`)
  // A quote inside of a word is `'\\''`; no path has a NUL.
  for (const [, start = ''] of starts.replaceAll("'\\''", '\0').matchAll(/'([^']*)'/g))
    await list(start.replaceAll('\0', "'"))
  return 0

  async function list(path: string): Promise<void> {
    if (!has(shell.files, `${remote}/${path}`)) return
    const { real, stats } = shell.files.existing(`${remote}/${path}`, 'stay')
    const kind = stats.isFile() ? 'f' : stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : 's'
    const [modified, changed] = [stats.mtimeMs, stats.ctimeMs].map(time => (time / 1000).toFixed(3))
    const mode = (stats.mode & 0o7777).toString(8)
    const target = kind === 'l' ? readlinkSync(real) : ''
    const names = kind === 'd' ? readdirSync(real) : []
    await out(`${kind} ${stats.size} ${modified} ${mode} ${changed} ${path}\0${target}\0`)
    for (const name of names) await list(`${path}/${name}`)
  }
}

/** Unpacks an archive from the input. Its last entry `whole` shows that nothing is missing. */
export async function takeArchive({ shell, input, out }: Call, values: Values): Promise<number> {
  const archive = extract()
  input?.once('error', error => archive.destroy(error))
  input?.pipe(archive)
  let isWhole = false
  for await (const entry of archive) {
    isWhole = entry.header.name === values.get('whole')
    if (isWhole) entry.resume()
    else await unpack(shell, `${values.get('remote')}/${entry.header.name}`, entry)
  }
  await out(isWhole ? 'done\n' : 'broken\n')
  return 0
}

async function unpack(shell: ShellState, path: string, entry: Entry): Promise<void> {
  const { type, mode, mtime, linkname } = entry.header
  makeFolder(shell, dirname(path))
  const { real, stats } = shell.files.at(path, 'stay')
  if (stats && (type !== 'directory' || !stats.isDirectory())) rmSync(real, { recursive: true })
  if (type === 'directory') {
    if (!stats?.isDirectory()) mkdirSync(real)
    entry.resume()
  } else if (type === 'symlink') {
    symlinkSync(linkname ?? '', real)
    entry.resume()
  } else {
    const file = openSync(real, 'wx', mode)
    try {
      for await (const piece of entry) writeSync(file, piece)
      if (mtime) futimesSync(file, mtime, mtime)
    } finally {
      closeSync(file)
    }
  }
}

/** Archives the files that the input names, NUL after each. */
export async function giveArchive({ shell, input, out }: Call, values: Values): Promise<number> {
  const names: Buffer[] = []
  for await (const piece of input ?? []) names.push(piece)
  const archive = pack()
  for (const name of Buffer.concat(names).toString('utf8').split('\0')) {
    const path = `${values.get('remote')}/${name}`
    const stats = has(shell.files, path) ? shell.files.at(path, 'follow').stats : undefined
    if (stats?.isFile())
      archive.entry({ name, mode: stats.mode & 0o777, mtime: stats.mtime }, readRegular(shell.files, path))
  }
  archive.finalize()
  for await (const piece of archive) await out(piece)
  return 0
}
