import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'vite'

/** Berth as processes of its own, to be killed. */
export interface Killable {
  start(...args: string[]): ChildProcess
  /** Kills what is left of them. */
  remove(): Promise<void>
}

/** Built once, since what is built starts four times faster; beside node_modules, which it imports from. */
export async function buildKillable(): Promise<Killable> {
  const children = new Set<ChildProcess>()
  const folder = await mkdtemp(join(import.meta.dirname, '../../../node_modules/.berth-killed-'))
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: join(import.meta.dirname, 'berth-process.ts'),
      outDir: folder,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'berth.mjs' } },
    },
  })
  const program = join(folder, 'berth.mjs')
  return {
    start(...args) {
      const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      children.add(child)
      child.once('exit', () => children.delete(child))
      return child
    },
    async remove() {
      for (const child of children) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true, maxRetries: 20 })
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
