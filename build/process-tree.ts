import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A running process, as the system lists it. */
export interface Process {
  pid: number
  name: string
  /** The pid of the process that started it, or that took it over. */
  parent: number
}

/** Every process of this machine that has not ended; none on Windows. On Linux without `ps`, which would take a hundred times as long. */
export function processes(): Process[] {
  if (process.platform === 'win32') return []
  if (process.platform !== 'linux') return listedByPs()
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.map(Number).flatMap(pid => {
    const [, name = '', parent] = /\((.*)\) [^ZX] (\d+)/s.exec(readProcess(pid, 'stat')) ?? []
    return parent === undefined ? [] : [{ pid, name, parent: Number(parent) }]
  })
}

function listedByPs(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap(line => {
    const [, pid, parent, name = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), name }]
  })
}

/** What a process started, directly and in turn, parents before children. */
export function descendants(pid: number, all = processes()): Process[] {
  return all.filter(({ parent }) => parent === pid).flatMap(child => [child, ...descendants(child.pid, all)])
}

/** Signals processes; those that have already ended are left out. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has already ended.
    }
  }
}

/** Kills a process and all that it started. */
export function killTree(pid: number): void {
  if (process.platform === 'win32') execFileSync('taskkill', ['/T', '/F', '/PID', String(pid)])
  else signalAll([pid, ...descendants(pid).map(child => child.pid)], 'SIGKILL')
}

/** A file of Linux about a process; '' where it has ended. */
export function readProcess(pid: number, file: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
