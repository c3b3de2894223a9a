import { FlagError, usage } from './flags.ts'

/** Says in plain words why Berth cannot start, and ends the process: 2 for a wrong flag, 1 for the rest. */
export function failToStart(error: unknown): never {
  process.stderr.write(`${sentence(error)}\n`)
  process.exit(error instanceof FlagError ? 2 : 1)
}

function sentence(error: unknown): string {
  if (error instanceof FlagError) return `${error.message}\n${usage}`
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? error.code : undefined
  const port = 'port' in error ? error.port : undefined
  if (code === 'EADDRINUSE') return `Port ${port} is taken. Give another one with --port, or 0 for any.`
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} is not for ordinary users. Give one above 1023.`
  // Known errors speak for themselves; for others, where they come from helps.
  return code === 'already_running' ? error.message : `Berth could not start. ${error.stack ?? error.message}`
}
