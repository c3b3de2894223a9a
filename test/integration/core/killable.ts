import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildProgram } from '../../built-program.ts'

/** Berth as processes of its own, to be killed. */
export interface Killable {
  start(...args: string[]): ChildProcess
  /** Kills what is left of them. */
  remove(): Promise<void>
}

export async function buildKillable(): Promise<Killable> {
  const children = new Set<ChildProcess>()
  const program = await buildProgram(join(import.meta.dirname, 'berth-process.ts'))
  return {
    start(...args) {
      const child = spawn(process.execPath, [program.path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      children.add(child)
      child.once('exit', () => children.delete(child))
      return child
    },
    async remove() {
      for (const child of children) child.kill('SIGKILL')
      await program.remove()
    },
  }
}

/** Resolves once it has printed that line. */
export async function said(child: ChildProcess, wanted: string): Promise<void> {
  if (!child.stdout) throw new Error('its output is not piped')
  const lines = createInterface(child.stdout)
  for await (const line of lines) if (line === wanted) return
  throw new Error(`it ended before it said ${wanted}`)
}
