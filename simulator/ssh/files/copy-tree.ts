import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs'
import { posix, sep } from 'node:path'
import { FileError, type Scratch } from './scratch.ts'

/**
 * Copies a file or folder from one instance's disk to another's, as rsync does: into `target` where that is a folder
 * or ends in `/`, else as `target`; the contents alone where `source` ends in `/`. What is there already is replaced.
 * Links are copied as links, files and folders with their times. Runs in one turn of the event loop (see Scratch). Throws
 * FileError: `ENOENT`, `EINVAL` for a folder into itself, and others.
 */
export function copyTree(from: Scratch, source: string, to: Scratch, target: string): void {
  const found = from.existing(source, source.endsWith('/') ? 'follow' : 'stay')
  const contentsOnly = source.endsWith('/') && found.stats.isDirectory()
  const into = target.endsWith('/') || (isFolder(to, target) && !contentsOnly)
  const name = posix.resolve('/', into && !contentsOnly ? posix.join(target, posix.basename(source)) : target)
  makeFolders(to, posix.dirname(name))
  const place = to.at(name, 'stay')
  if (`${place.real}${sep}`.startsWith(`${found.real}${sep}`)) throw new FileError('EINVAL')
  copyOne(from, found.path, to, place.path)
}

function copyOne(from: Scratch, source: string, to: Scratch, target: string): void {
  const { real, stats } = from.existing(source, 'stay')
  const place = to.at(target, 'stay')
  if (stats.isDirectory()) {
    if (place.stats === undefined) mkdirSync(place.real)
    else if (!place.stats.isDirectory()) throw new FileError('ENOTDIR')
    const names = readdirSync(real)
    for (const name of names) copyOne(from, posix.join(source, name), to, posix.join(target, name))
    utimesSync(place.real, stats.atime, stats.mtime)
    return
  }
  if (place.stats?.isDirectory()) throw new FileError('EISDIR')
  if (place.stats) unlinkSync(place.real)
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(real), place.real)
  else if (stats.isFile()) {
    copyFileSync(real, place.real)
    utimesSync(place.real, stats.atime, stats.mtime)
  }
}

function makeFolders(disk: Scratch, path: string): void {
  const names = path.split('/').filter(name => name !== '')
  names.forEach((_, depth) => {
    const place = disk.at(`/${names.slice(0, depth + 1).join('/')}`, 'follow')
    if (place.stats === undefined) mkdirSync(place.real)
  })
}

function isFolder(disk: Scratch, path: string): boolean {
  try {
    return disk.existing(path, 'follow').stats.isDirectory()
  } catch {
    return false
  }
}
