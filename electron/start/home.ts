import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ensureFolderSync } from '../platform/ensure-folder.ts'

/**
 * Berth's folder for all data: `BERTH_HOME`, else the platform's usual place. Absolute, and without links: the command and
 * Berth must find each other by whatever name of it.
 */
export function berthHome(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string = homedir(),
): string {
  return withoutLinks(namedHome(env, platform, home))
}

function namedHome(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): string {
  const given = env['BERTH_HOME']
  if (given !== undefined && given !== '') return resolve(given)
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Berth')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Berth')
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'berth')
}

/** The same path without links, as far as there is something at it. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(withoutLinks(above), basename(path))
  }
}

/** Berth can't keep its files in its folder. */
export class HomeError extends Error {
  readonly code = 'home_unusable'

  constructor(home: string, why: string) {
    super(`Berth can’t keep its files in ${home}: ${why}. Set BERTH_HOME to a folder that you can write to.`)
  }
}

/** Makes Berth's folder, or one below it, for its user alone. Throws a HomeError. */
export function makeHome(home: string): void {
  try {
    ensureFolderSync(home, 0o700)
  } catch (error) {
    throw homeError(home, error)
  }
}

/** The error of what the system refuses there; another Berth's lock stays as it is. */
export function homeError(home: string, error: unknown): Error {
  if (error instanceof AlreadyRunningError || error instanceof HomeError) return error
  const words = error instanceof Error ? error.message : String(error)
  // `EACCES: permission denied, open '/…'`
  return new HomeError(home, /^E[A-Z]+: (.*?)(?:, \w+ '.*)?$/.exec(words)?.[1] ?? words)
}

/** Another Berth uses the same folder. */
export class AlreadyRunningError extends Error {
  readonly code = 'already_running'
  readonly pid: number

  constructor(pid: number) {
    super(
      `Berth is already running with this folder (process ${pid}). Quit it first, or set BERTH_HOME to another folder.`,
    )
    this.pid = pid
  }
}

/**
 * Makes this process the only Berth on a folder: two would both continue the same rental. Each process writes a file
 * `path-process-start`, and has the lock once it sees no file of another live process. Two that see each other both
 * withdraw and try again. Files of ended processes do not count, and are only removed under the lock. Waits `patience`
 * milliseconds for a process that is ending. Gives the function that unlocks. Throws an AlreadyRunningError.
 *
 * Its files are read and written synchronously: nothing else can happen yet, and while Electron starts nothing else is answered.
 */
export async function lockFolder(path: string, patience: number): Promise<() => Promise<void>> {
  const own = `${path}-${process.pid}-${startOf(process.pid)}`
  const until = performance.now() + patience
  for (;;) {
    let { holder } = othersOf(path)
    if (holder === undefined) {
      writeFileSync(own, '', { mode: 0o600 })
      const { holder: rival, ended } = othersOf(path)
      if (rival === undefined) {
        for (const file of ended) rmSync(file, { force: true })
        return () => rm(own, { force: true })
      }
      rmSync(own, { force: true })
      holder = rival
    }
    if (performance.now() > until) throw new AlreadyRunningError(holder)
    // Random, or two that withdraw would collide again and again.
    await pause(50 + Math.random() * 100)
  }
}

/** Of the other processes with a file there: the id of a live one, and the files of ended ones. */
function othersOf(path: string): { holder: number | undefined; ended: readonly string[] } {
  const folder = dirname(path)
  const before = `${basename(path)}-`
  const ended: string[] = []
  let holder: number | undefined
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(before)) continue
    const [pid = '', ...start] = name.slice(before.length).split('-')
    const process_ = Number(pid)
    if (process_ === process.pid) continue
    if (isAlive(process_, start.join('-'))) holder = process_
    else ended.push(join(folder, name))
  }
  return { holder, ended }
}

/** Whether the process with this id and start time still runs. */
export function isAlive(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    const foreign = error instanceof Error && 'code' in error && error.code === 'EPERM'
    if (!foreign) return false
  }
  const { state, start: itsStart } = statOf(pid)
  // One that has ended stays as a zombie until its parent asks after it, which not every container's first process does.
  return start === itsStart && state !== 'Z'
}

/** A process's start time to compare, since ids are reused. Only Linux has it here; other systems give `-`. */
export function startOf(pid: number): string {
  return statOf(pid).start
}

function statOf(pid: number): { state?: string; start: string } {
  if (process.platform !== 'linux') return { start: '-' }
  let line = ''
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It has ended.
  }
  // The second field is the program's name in parentheses, with any characters in it.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', start: fields[19] ?? '-' }
}
