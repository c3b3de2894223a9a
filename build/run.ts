import { spawn } from 'node:child_process'
import { at } from './places.ts'

/** Runs a program in the project's folder on this terminal; gives its exit code, 1 for a signal. */
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

/** Runs a script of build/. */
export function runScript(script: string, ...args: string[]): Promise<number> {
  return run(process.execPath, ['--import', 'tsx', at(`build/${script}`), ...args])
}

/** Runs a tool from the project's packages. */
export function runTool(tool: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<number> {
  const windows = process.platform === 'win32'
  // On Windows tools are scripts that need a shell; all arguments are our own.
  return run(at(`node_modules/.bin/${tool}${windows ? '.cmd' : ''}`), args, env, windows)
}
