import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, startOf } from './living.ts'

const made = /^berth-demo-(\d+)-(\d+|-)-[A-Za-z0-9]{6}$/

/** A folder for what the demo keeps, named after this process. */
export async function makeDemoFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), `berth-demo-${process.pid}-${await startOf(process.pid)}-`))
}

/** Removes what demos left behind that were killed. What cannot be removed, such as another user's, stays. */
export async function tidyDemoFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names) {
    const [, pid, start] = made.exec(name) ?? []
    if (pid === undefined || start === undefined || (await isAlive(Number(pid), start))) continue
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined)
  }
}
