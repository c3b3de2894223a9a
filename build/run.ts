import { spawn } from 'node:child_process'
import { at } from './places.ts'

/** Runs a program in the project's folder with this terminal as its own; gives its exit code, 1 for a signal. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  shell = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: at('.'), stdio: ['ignore', 'inherit', 'inherit'], env, shell })
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}

/** Runs one of the scripts of build/. */
export function runScript(script: string, ...args: string[]): Promise<number> {
  return run(process.execPath, ['--import', 'tsx', at(`build/${script}`), ...args])
}

/** Runs a tool that the project's packages bring. */
export function runTool(tool: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<number> {
  const windows = process.platform === 'win32'
  // On Windows it is a script for the shell; the arguments are all our own.
  return run(at(`node_modules/.bin/${tool}${windows ? '.cmd' : ''}`), args, env, windows)
}
