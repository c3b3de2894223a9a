import '../built.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { inject } from 'vitest'
import { at } from '../../build/places.ts'
import type { Remote } from './double/remote.ts'
import type { DoubleEvent } from './double/web-contents.ts'

const root = at('.')

/** A data URL of a module. */
const asModule = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`

/** A module to load before the main process, which replaces imports of `electron` by the double. */
function takeDouble(double: string): string {
  const hook = `export const resolve = (specifier, context, next) =>
    next(specifier === 'electron' ? ${JSON.stringify(double)} : specifier, context)`
  return asModule(`import { register } from 'node:module'\nregister(${JSON.stringify(asModule(hook))})`)
}

/** The built main process, running under the double of Electron. */
export interface UnderDouble {
  process: ChildProcess
  /** Calls a function of the double; rejects with its error. */
  ask<Name extends keyof Remote>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ): Promise<Awaited<ReturnType<Remote[Name]>>>
  /** Resolves with the exit code. */
  ended: Promise<number | null>
  kill(): void
}

interface Answer {
  id: number
  answer?: unknown
  error?: string
}

/** Starts the built dist/main/main.js, or another. `onEvent` gets the events of its windows. */
export async function startUnderDouble(
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
  onEvent: (event: DoubleEvent) => void = () => undefined,
  main = 'dist/main/main.js',
): Promise<UnderDouble> {
  const child = spawn(process.execPath, ['--import', takeDouble(inject('double')), main, ...flags], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  child.on('message', (message: Answer | DoubleEvent) => {
    if ('event' in message) return onEvent(message)
    const { id, answer, error } = message
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(answer)
    else call?.reject(new Error(error))
  })
  const ended = once(child, 'exit').then(([code]) => {
    for (const { reject } of waiting.values()) reject(new Error(`the main process ended with ${code}`))
    return code as number | null
  })
  let last = 0
  return {
    process: child,
    ask: (name, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject })
        // Without a callback an ended process would throw.
        child.send({ id, name, args }, error => error && reject(error))
      }),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}
