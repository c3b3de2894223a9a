import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scratch } from '../files/scratch.ts'
import type { Call, ShellState } from '../shell/command.ts'
import { appendingSink, readRegular } from '../shell/sink.ts'

/** The values that a script sets at its start, by name. */
export type Values = ReadonlyMap<string, string>

/**
 * Starts `run`'s command once, independent of connections; its output and exit code are files in `~/.berth/runs`. One
 * that is to be tried again is, after its pauses; nothing is told to it before a stop.
 */
export async function startRun(call: Call, values: Values): Promise<number> {
  const { shell, run, out } = call
  const here = folderOf(values)
  if (!has(shell.files, here)) {
    makeFolder(shell, here)
    appendFileSync(shell.files.at(`${here}/output`, 'follow').real, '')
    const [before = '', isTried] = (values.get('command') ?? '').split(aroundIt)
    shell.background.start(here, async signal => {
      const live = () => writeIn(shell, `${here}/alive`, `${Math.floor(Date.now() / 1000)}\n`)
      live()
      const living = setInterval(live, 5000).unref()
      signal.addEventListener('abort', () => clearInterval(living), { once: true })
      const sink = appendingSink(shell.files, `${here}/output`, true, signal)
      const own = { ...shell, folder: '/root', variables: new Map(shell.variables), status: 0 }
      async function runIn(state: ShellState & { ending?: number }, text: string): Promise<number> {
        for (const line of text.split('\n').filter(each => /^\s*[^#\s]/.test(each)))
          if (state.ending === undefined && !signal.aborted)
            await run(state, line, { out: sink, err: sink, input: undefined, signal })
        return state.ending ?? state.status
      }
      const prepared = await runIn(own, before)
      const attempt = async () =>
        isTried === undefined
          ? prepared
          : runIn({ ...own, variables: new Map(own.variables) }, values.get('tried') ?? '')
      const code = await tried(attempt, values, signal, text => writeIn(shell, `${here}/attempts`, text))
      clearInterval(living)
      if (!shell.background.halted) writeIn(shell, `${here}/code`, `${code}\n`)
    })
  }
  await out('started yes\n')
  return 0
}

/** The end of a command that runs another one, in `tried`, as often as it may. */
const aroundIt = /exec sh "\$1\/around\.sh" "\$@"$/

/** The exit code of the last attempt. `note` gets how many have failed, the last one's code and when the next begins. */
async function tried(
  attempt: () => Promise<number>,
  values: Values,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<number> {
  const [times = 0, pause = 0, ...codes] = (values.get('retry') ?? '')
    .split(' ')
    .map(word => Number(word) || 0)
  const isForAny = codes.includes(0)
  for (let failed = 0; ; failed += 1) {
    const code = await attempt()
    if (code === 0 || failed >= Math.min(times, 2) || !(isForAny || codes.includes(code))) return code
    const wait = pause * 2 ** failed
    note(`${failed + 1} ${code} ${Date.now() + wait * 1000}`)
    await sleep(wait * 1000, undefined, { signal, ref: false }).catch(() => undefined)
    note(`${failed + 1} ${code} 0`)
  }
}

function writeIn({ files }: ShellState, path: string, text: string): void {
  if (has(files, dirname(path))) writeFileSync(files.at(path, 'follow').real, text)
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
  const noted =
    has(shell.files, `${here}/attempts`) && readRegular(shell.files, `${here}/attempts`).toString()
  const [failed, last, next = 0] = noted ? noted.split(' ').map(Number) : []
  const attempts =
    failed === undefined ? '' : ` ${failed} ${last} ${Math.max(0, Math.ceil((next - Date.now()) / 1000))}`
  await out(`${state} ${code} ${output.length}${attempts}\n`)
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
