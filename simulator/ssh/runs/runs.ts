import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import type { Scratch } from '../files/scratch.ts'
import type { Call, ShellState } from '../shell/command.ts'
import { appendingSink, readRegular } from '../shell/sink.ts'

/** The values that a script sets at its start, by name. */
export type Values = ReadonlyMap<string, string>

/** Starts `run`'s command once, independent of connections; its output and exit code are files in `~/.berth/runs`. */
export async function startRun(call: Call, values: Values): Promise<number> {
  const { shell, run, out } = call
  const here = folderOf(values)
  if (!has(shell.files, here)) {
    makeFolder(shell, here)
    appendFileSync(shell.files.at(`${here}/output`, 'follow').real, '')
    const lines = (values.get('command') ?? '').split('\n').filter(line => /^\s*[^#\s]/.test(line))
    shell.background.start(here, async signal => {
      const sink = appendingSink(shell.files, `${here}/output`, true, signal)
      const own = { ...shell, folder: '/root', variables: new Map(shell.variables), status: 0 }
      for (const line of lines)
        if (own.ending === undefined && !signal.aborted)
          await run(own, line, { out: sink, err: sink, input: undefined, signal })
      if (!shell.background.halted && has(shell.files, here))
        writeFileSync(shell.files.at(`${here}/code`, 'follow').real, `${own.ending ?? own.status}\n`)
    })
  }
  await out('started yes\n')
  return 0
}

/** Prints its status on one line, and its output from a byte on. */
export async function readRunStatus({ shell, out }: Call, values: Values): Promise<number> {
  const here = folderOf(values)
  if (!has(shell.files, here)) {
    await out('none - 0\n')
    return 0
  }
  const ended = has(shell.files, `${here}/code`)
  const code = ended ? readRegular(shell.files, `${here}/code`).toString('latin1').trim() : '-'
  const state = ended ? 'ended' : shell.background.isGoing(here) ? 'running' : 'lost'
  const output = readRegular(shell.files, `${here}/output`)
  await out(`${state} ${code} ${output.length}\n`)
  const from = Number(values.get('from') ?? 0)
  await out(output.subarray(from, from + Number(values.get('most') ?? 0)))
  return 0
}

export async function endRun({ shell, out }: Call, values: Values): Promise<number> {
  shell.background.end(folderOf(values))
  await out('ended yes\n')
  return 0
}

/** Only `remove` has an effect: the other words are for a watchdog. */
export async function markRun({ shell, out }: Call, values: Values): Promise<number> {
  const here = folderOf(values)
  if (values.get('word') === 'remove' && has(shell.files, here))
    rmSync(shell.files.existing(here, 'stay').real, { recursive: true })
  await out('marked yes\n')
  return 0
}

function folderOf(values: Values): string {
  return `/root/.berth/runs/${(values.get('run') ?? '').replaceAll('/', '')}`
}

/** Whether anything is at a path. */
export function has(files: Scratch, path: string): boolean {
  try {
    return files.at(path, 'stay').stats !== undefined
  } catch {
    return false
  }
}

/** Makes a folder and its parents. */
export function makeFolder(shell: ShellState, path: string): void {
  if (has(shell.files, path)) return
  makeFolder(shell, dirname(path))
  mkdirSync(shell.files.at(path, 'stay').real)
}
