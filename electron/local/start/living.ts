import { readFile } from 'node:fs/promises'

/** Whether the process with this id and start time still runs. */
export async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    const foreign = error instanceof Error && 'code' in error && error.code === 'EPERM'
    if (!foreign) return false
  }
  const { state, start: itsStart } = await statOf(pid)
  // One that has ended stays as a zombie until its parent asks after it, which not every container's first process does.
  return start === itsStart && state !== 'Z'
}

/** A process's start time to compare, since ids are reused. Only Linux has it here; other systems give `-`. */
export async function startOf(pid: number): Promise<string> {
  return (await statOf(pid)).start
}

async function statOf(pid: number): Promise<{ state?: string; start: string }> {
  if (process.platform !== 'linux') return { start: '-' }
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the program's name in parentheses, with any characters in it.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', start: fields[19] ?? '-' }
}
