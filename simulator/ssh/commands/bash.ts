import { Readable } from 'node:stream'
import { giveArchive, listFolder, takeArchive } from '../runs/folder-sync.ts'
import {
  askSetUp,
  keepOnVolume,
  makeSide,
  noteFiles,
  noteSetUp,
  removeGoneFiles,
  removeLeftFiles,
  takeOver,
} from '../runs/prepared.ts'
import { endRun, markRun, readRunStatus, startRun, type Values } from '../runs/runs.ts'
import { putWatchdog, readWatchdog, removeWatchdog } from '../runs/watchdog.ts'
import { absolute, type Call, type Command } from '../shell/command.ts'
import { readRegular } from '../shell/sink.ts'

/** The scripts after `-c` that are beyond this shell, by their beginning. It does the same as they do. */
const scripts: readonly [RegExp, Command][] = [
  [/^IFS= read -r script /, scriptFromLine],
  // Prints which programs a run has left behind: here none can be.
  [/^\s*read -r pid < /, async () => 0],
]

/** `bash -c LINE`: the same scripted shell, with its own folder and variables. Clients wrap commands in it. */
export async function bash(call: Call): Promise<number> {
  const { name, args, shell, run, ...streams } = call
  if (args[0] === '-s') return scriptFromInput(call)
  const flag = args.findIndex(arg => /^-[a-z]*c$/.test(arg))
  const line = args[flag + 1]
  if (flag < 0 || line === undefined) {
    await streams.err(`${name}: only \`${name} -c COMMAND\` is available here\n`)
    return 2
  }
  const script = scripts.find(([beginning]) => beginning.test(line))
  if (script) return script[1](call)
  if (line.length > 64 * 1024) return 126
  const inner = { ...shell, variables: new Map(shell.variables), ending: undefined }
  return run(inner, line, streams)
}

/** `. FILE`: runs its lines in this shell. */
export async function source({ args, shell, run, ...streams }: Call): Promise<number> {
  const text = readRegular(shell.files, absolute(shell, args[0] ?? '')).toString('utf8')
  return text === '' ? 0 : run(shell, text, streams)
}

/** The most bytes of a script. */
const longest = 256 * 1024

/** The scripts that this shell knows, each by a text unique to it. It does not run them, but does the same. */
const known: readonly [string, (call: Call, values: Values, script: string) => Promise<number>][] = [
  ["echo 'started yes'", startRun],
  ["echo 'ended yes'", endRun],
  ["echo 'marked yes'", markRun],
  ['state=none code=- size=0', readRunStatus],
  // Before the reading script, whose text is also part of this one.
  ["echo 'refused no_tool'", putWatchdog],
  ["echo 'there yes'", readWatchdog],
  ["echo 'removed yes'", removeWatchdog],
  ["echo 'setup same'", askSetUp],
  ["echo 'noted yes'", noteSetUp],
  ["echo 'listed yes'", noteFiles],
  ["echo 'cleared yes'", removeLeftFiles],
  ["echo 'sent yes'", removeGoneFiles],
  ["echo 'kept yes'", keepOnVolume],
  ["echo 'taken over'", takeOver],
  ['cd "$side" && pwd -P', makeSide],
  ['berth-sync ok', listFolder],
  ['tar -xof -', takeArchive],
  ['exec tar --null', giveArchive],
]

/** `sh -s`: a script on the input, which clients use to leave a command running. */
export async function scriptFromInput(call: Call): Promise<number> {
  return play(call, call.input ? await textOf(call.input) : '')
}

/** A script on the first line of the input, whose rest is for the script: clients send and get folders so. */
export async function scriptFromLine(call: Call): Promise<number> {
  const pieces = call.input?.iterator({ destroyOnReturn: false })
  let read = Buffer.alloc(0)
  let end = -1
  while (end < 0) {
    const next = await pieces?.next()
    if (!next || next.done || read.length > longest) return 2
    read = Buffer.concat([read, next.value])
    end = read.indexOf('\n')
  }
  async function* rest() {
    yield read.subarray(end + 1)
    if (pieces) yield* pieces
  }
  return play({ ...call, input: Readable.from(rest()) }, read.toString('utf8', 0, end))
}

async function play(call: Call, text: string): Promise<number> {
  const values = valuesOf(text)
  const script = text.slice(values.end)
  const found = known.find(([words]) => script.includes(words))
  if (found) return found[1](call, values.set, script)
  await call.err(`${call.name}: this shell is scripted and knows only a few scripts\n`)
  return 2
}

async function textOf(input: Readable): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  // Not destroyed: the input is the same stream as the output, which is still needed.
  for await (const piece of input.iterator({ destroyOnReturn: false })) {
    pieces.push(Buffer.from(piece))
    length += piece.length
    if (length > longest) break
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The assignments `name='value'` at its start, after an opening brace, and where they end. */
function valuesOf(text: string): { set: Map<string, string>; end: number } {
  const set = new Map<string, string>()
  const assignment = /(\w+)='([^']*(?:'\\''[^']*)*)'(?:\n|; )/y
  let end = text.startsWith('{\n') ? 2 : 0
  for (;;) {
    assignment.lastIndex = end
    const found = assignment.exec(text)
    if (!found) return { set, end }
    set.set(found[1] ?? '', (found[2] ?? '').replaceAll("'\\''", "'"))
    end = assignment.lastIndex
  }
}
