import {
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { longLine } from '../files/attributes.ts'
import { FileError, reason } from '../files/scratch.ts'
import { absolute, type Call } from '../shell/command.ts'

/** `cd [FOLDER|-]` */
export async function cd({ args, shell, out, err }: Call): Promise<number> {
  const wanted = args[0] === '-' ? (shell.variables.get('OLDPWD') ?? shell.folder) : (args[0] ?? '/root')
  try {
    const place = shell.files.existing(absolute(shell, wanted), 'follow')
    if (!place.stats.isDirectory()) throw new FileError('ENOTDIR')
    shell.variables.set('OLDPWD', shell.folder)
    shell.folder = place.path
    shell.variables.set('PWD', place.path)
    if (args[0] === '-') await out(`${place.path}\n`)
    return 0
  } catch (error) {
    await err(`bash: cd: ${wanted}: ${reason(error)}\n`)
    return 1
  }
}

/** `ls [-l] [-a] [-A] [-1] [-d] [PATH…]`; other flags are taken and do nothing. */
export async function ls(call: Call): Promise<number> {
  const flags = call.args.filter(arg => arg.startsWith('-') && arg !== '-').join('')
  const paths = call.args.filter(arg => !arg.startsWith('-') || arg === '-')
  const files: Entry[] = []
  const folders: { path: string; entries: Entry[] }[] = []
  let status = 0
  for (const path of paths.length === 0 ? ['.'] : paths) {
    try {
      const { real, stats } = call.shell.files.existing(
        absolute(call.shell, path),
        flags.includes('l') && !path.endsWith('/') ? 'stay' : 'follow',
      )
      if (stats.isDirectory() && !flags.includes('d')) folders.push({ path, entries: entries(real, flags) })
      else files.push({ name: path, stats })
    } catch (error) {
      await call.err(`ls: cannot access '${path}': ${reason(error)}\n`)
      status = 2
    }
  }
  if (files.length > 0) await call.out(listing(files, flags, call, false))
  for (const [index, folder] of folders.entries()) {
    const blank = index > 0 || files.length > 0 ? '\n' : ''
    if (paths.length > 1) await call.out(`${blank}${folder.path}:\n`)
    await call.out(listing(folder.entries, flags, call, true))
  }
  return status
}

interface Entry {
  name: string
  stats: Stats
}

function entries(real: string, flags: string): Entry[] {
  const names = readdirSync(real).filter(name => /[aA]/.test(flags) || !name.startsWith('.'))
  const found = names.sort().flatMap(name => {
    const stats = lstatSync(join(real, name), { throwIfNoEntry: false })
    return stats === undefined ? [] : [{ name, stats }]
  })
  if (!flags.includes('a')) return found
  const here = lstatSync(real)
  return [{ name: '.', stats: here }, { name: '..', stats: here }, ...found]
}

function listing(found: Entry[], flags: string, call: Call, ofFolder: boolean): string {
  const { terminal } = call.shell
  const names = found.map(entry => printable(entry.name))
  if (flags.includes('l')) {
    const width = Math.max(1, ...found.map(entry => String(entry.stats.size).length))
    const blocks = found.reduce((sum, entry) => sum + Math.ceil(entry.stats.size / 1024), 0)
    const lines = found.map((entry, index) => `${longLine(entry.stats, width)} ${names[index]}\n`)
    return `${ofFolder ? `total ${blocks}\n` : ''}${lines.join('')}`
  }
  const between = terminal === undefined || flags.includes('1') ? '\n' : '  '
  return names.length === 0 ? '' : `${names.join(between)}\n`
}

/** File names are foreign text: control characters are shown as `?`, as by `ls` itself. */
function printable(name: string): string {
  return name.replace(/\p{Cc}/gu, '?')
}

/** `mkdir [-p] FOLDER…` */
export async function mkdir(call: Call): Promise<number> {
  const parents = call.args.some(arg => /^-\w*p|^--parents$/.test(arg))
  return eachPath(call, 'cannot create directory', path => {
    const steps = parents ? path.split('/').map((_, index, all) => all.slice(0, index + 1).join('/')) : [path]
    for (const step of steps.filter(step => step !== '')) {
      const place = call.shell.files.at(step, 'follow')
      if (place.stats === undefined) mkdirSync(place.real)
      else if (!parents) throw new FileError('EEXIST')
      else if (!place.stats.isDirectory()) throw new FileError('ENOTDIR')
    }
  })
}

/** `rm [-r] [-f] PATH…`; removes links, never their targets. */
export async function rm(call: Call): Promise<number> {
  const flags = call.args.filter(arg => arg.startsWith('-')).join('')
  return eachPath(call, 'cannot remove', path => {
    const place = call.shell.files.at(path, 'stay')
    if (place.path === '/') throw new FileError('EPERM')
    if (place.stats === undefined) {
      if (!flags.includes('f')) throw new FileError('ENOENT')
    } else if (!place.stats.isDirectory()) unlinkSync(place.real)
    else if (/[rR]/.test(flags)) rmSync(place.real, { recursive: true })
    else if (flags.includes('d')) rmdirSync(place.real)
    else throw new FileError('EISDIR')
  })
}

/** `mv FROM TO` of one file or folder, also into a folder. */
export async function mv({ args, shell, err }: Call): Promise<number> {
  const [from = '', to = ''] = args.filter(arg => !arg.startsWith('-'))
  try {
    const { path, real } = shell.files.existing(absolute(shell, from), 'stay')
    const place = shell.files.at(absolute(shell, to), 'stay')
    if (path === '/' || to === '') throw new FileError('EINVAL')
    renameSync(
      real,
      place.stats?.isDirectory()
        ? shell.files.at(`${place.path}/${basename(path)}`, 'stay').real
        : place.real,
    )
    return 0
  } catch (error) {
    await err(`mv: cannot move '${from}' to '${to}': ${reason(error)}\n`)
    return 1
  }
}

async function eachPath(call: Call, problem: string, act: (path: string) => void): Promise<number> {
  const paths = call.args.filter(arg => !arg.startsWith('-'))
  let status = 0
  if (paths.length === 0) {
    await call.err(`${call.name}: missing operand\n`)
    status = 1
  }
  for (const path of paths) {
    try {
      act(absolute(call.shell, path))
    } catch (error) {
      await call.err(`${call.name}: ${problem} '${path}': ${reason(error)}\n`)
      status = 1
    }
  }
  return status
}

/** `df [-h]`: the instance's disk. */
export async function df({ args, shell, out }: Call): Promise<number> {
  const disk = shell.machine.disk()
  const human = args.some(arg => /^-\w*h/.test(arg))
  const size = disk.size * 1024 ** 3
  const free = Math.max(0, disk.size - disk.used) * 1024 ** 3
  const shown = (bytes: number) =>
    (human ? `${Math.ceil(bytes / 1024 ** 3)}G` : String(Math.round(bytes / 1024))).padStart(11)
  const share = `${Math.ceil(((size - free) / Math.max(1, size)) * 100)}%`
  const [total, available] = human ? ['Size', 'Avail'] : ['1K-blocks', 'Available']
  await out(
    `Filesystem      ${total?.padStart(11)}        Used ${available?.padStart(11)} Use% Mounted on\n` +
      `overlay         ${shown(size)} ${shown(size - free)} ${shown(free)} ${share.padStart(4)} /\n`,
  )
  return 0
}
