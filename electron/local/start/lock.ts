import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

/** Another Berth uses the same folder. */
export class AlreadyRunningError extends Error {
  readonly code = 'already_running'
  readonly pid: number

  constructor(pid: number) {
    super(
      `Berth already runs on this folder (process ${pid}). End it first, or set BERTH_HOME to another folder.`,
    )
    this.pid = pid
  }
}

/**
 * Makes this process the only Berth on a folder: two would both go on with the same rental. The file names the
 * process; one that has ended, however it ended, does not count. Waits `patience` milliseconds for one that is
 * ending. Gives the function that unlocks. Throws an AlreadyRunningError.
 */
export async function lockFolder(path: string, patience: number): Promise<() => Promise<void>> {
  const mine = `${process.pid} ${await startOf(process.pid)}\n`
  const until = performance.now() + patience
  for (;;) {
    try {
      await writeFile(path, mine, { flag: 'wx', mode: 0o600 })
      return () => rm(path, { force: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const holder = await aliveHolder(path)
    if (holder === undefined) await rm(path, { force: true })
    else if (performance.now() > until) throw new AlreadyRunningError(holder)
    else await pause(100)
  }
}

async function aliveHolder(path: string): Promise<number | undefined> {
  const [pid, start] = (await readFile(path, 'utf8').catch(() => '')).trim().split(' ')
  const process_ = Number(pid)
  if (!Number.isInteger(process_) || process_ <= 0 || process_ === process.pid) return undefined
  try {
    process.kill(process_, 0)
  } catch (error) {
    const foreign = error instanceof Error && 'code' in error && error.code === 'EPERM'
    if (!foreign) return undefined
  }
  return start === (await startOf(process_)) ? process_ : undefined
}

/** When a process began, in a form to compare: numbers of processes are used again. Linux tells; others say `-`. */
async function startOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return '-'
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the program's name in parentheses and may hold anything.
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
}
