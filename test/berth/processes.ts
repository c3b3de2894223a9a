import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll } from 'vitest'
import type { Simulator } from '#simulator/simulator.ts'
import { buildProgram } from '#test/built-program.ts'

/** Berth in processes that can be killed. */
export interface Killable {
  start(args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess
  /** Starts a process, and kills it once it has printed `line` and `wait` has resolved. */
  runUntil(line: string, args: readonly string[], wait?: () => Promise<unknown>): Promise<void>
  /** Kills those that still run. */
  remove(): Promise<void>
}

/** Berth in processes for all tests of a file, built once. */
export function useKillable(): Killable {
  const processes = {} as Killable
  beforeAll(async () => void Object.assign(processes, await buildKillable()))
  afterAll(() => processes.remove())
  return processes
}

async function buildKillable(): Promise<Killable> {
  const children = new Set<ChildProcess>()
  const program = await buildProgram(join(import.meta.dirname, 'berth-process.ts'))
  function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn(process.execPath, [program.path, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  return {
    start,
    async runUntil(line, args, wait) {
      const child = start(args)
      await said(child, line)
      await wait?.()
      child.kill('SIGKILL')
      await once(child, 'exit')
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

/** Runs the rounds, `atOnce` at a time, since most of a round is waiting. */
export async function inRounds<Result>(
  rounds: number,
  atOnce: number,
  round: (number: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async () => {
    while (next < rounds) {
      next += 1
      results.push(await round(next))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return results
}

/** A file of the account on disk; empty where there is none. */
export async function stored(home: string, name: string): Promise<string> {
  const accounts = join(home, 'berth', 'accounts')
  const [account] = await readdir(accounts).catch(() => [])
  if (account === undefined) return ''
  return readFile(join(accounts, account, `${name}.json`), 'utf8').catch(() => '')
}

/** The instances that the service has. */
export const listed = (sim: Simulator): { id: number }[] =>
  sim.controls.instances().map(({ id }) => ({ id: Number(id) }))
