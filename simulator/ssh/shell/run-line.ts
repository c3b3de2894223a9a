import { PassThrough } from 'node:stream'
import { commands } from '../commands/table.ts'
import { reason } from '../files/scratch.ts'
import { absolute, type Call, type ShellState, type Streams } from './command.ts'
import { expand, type ParsedCommand, type Pipeline, parseLine, ShellSyntaxError } from './command-line.ts'
import { appendingSink, Interrupted, inputFile, type Sink, streamSink } from './sink.ts'

/** Bash's exit status of a command that Ctrl-C ended. */
const interruptedStatus = 130

/** Runs a line; gives the exit status of its last command. Never rejects. */
export async function runLine(shell: ShellState, line: string, streams: Streams): Promise<number> {
  try {
    return await runAll(shell, parseLine(line), streams)
  } catch (error) {
    shell.status = await failure(error, streams)
  }
  return shell.status
}

async function runAll(shell: ShellState, pipelines: readonly Pipeline[], streams: Streams): Promise<number> {
  for (const pipeline of pipelines) {
    if (pipeline.when === 'after success' && shell.status !== 0) continue
    if (pipeline.when === 'after failure' && shell.status === 0) continue
    shell.status = await runPipeline(shell, pipeline, streams)
    if (shell.ending !== undefined) return shell.ending
  }
  return shell.status
}

async function failure(error: unknown, streams: Streams): Promise<number> {
  if (error instanceof Interrupted) return interruptedStatus
  const message = error instanceof ShellSyntaxError ? error.message : reason(error)
  await streams.err(`bash: ${message}\n`).catch(() => undefined)
  return error instanceof ShellSyntaxError ? 2 : 1
}

async function runPipeline(shell: ShellState, pipeline: Pipeline, streams: Streams): Promise<number> {
  const running: Promise<number>[] = []
  let input = streams.input
  let pipeBefore: PassThrough | undefined
  for (const [index, command] of pipeline.commands.entries()) {
    const from = pipeBefore
    const last = index === pipeline.commands.length - 1
    const to = last ? undefined : newPipe(streams.signal)
    // When a command ends, the one before it ends too, as by SIGPIPE, and the one after it sees the end.
    const end = () => {
      from?.destroy()
      to?.stream.end()
    }
    const own =
      to === undefined ? { ...streams, input } : { ...streams, input, out: to.sink, signal: to.signal }
    running.push(runCommand(shell, command, own).finally(end))
    input = to?.stream
    pipeBefore = to?.stream
  }
  const statuses = await Promise.all(running)
  return statuses.at(-1) ?? 0
}

function newPipe(outer: AbortSignal): { stream: PassThrough; sink: Sink; signal: AbortSignal } {
  const stream = new PassThrough()
  const readerLeft = new AbortController()
  stream.once('close', () => readerLeft.abort())
  stream.on('error', () => undefined)
  const signal = AbortSignal.any([outer, readerLeft.signal])
  return { stream, sink: streamSink(stream, signal), signal }
}

async function runCommand(shell: ShellState, parsed: ParsedCommand, streams: Streams): Promise<number> {
  try {
    const redirected = await redirect(shell, parsed, streams)
    if (redirected === undefined) return 1
    if (parsed.group) return await runAll(shell, parsed.group, redirected)
    const words = parsed.words.flatMap(word => expand(word, valueIn(shell)))
    const [name, ...args] = words
    if (name === undefined) return 0
    const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(name)
    if (assignment !== null && args.length === 0) {
      shell.variables.set(assignment[1] ?? '', assignment[2] ?? '')
      return 0
    }
    const command = commands.get(name.replace(/^\/(?:usr\/)?s?bin\//, ''))
    if (command === undefined) {
      const why = name.includes('/') ? 'No such file or directory' : 'command not found'
      await redirected.err(`bash: ${name}: ${why}\n`)
      return 127
    }
    const call: Call = { name, args, shell, run: runLine, ...redirected }
    return await command(call)
  } catch (error) {
    return failure(error, streams)
  }
}

/** The streams after a command's redirections; undefined, with an error printed, where a file could not be opened. */
async function redirect(
  shell: ShellState,
  { redirections }: ParsedCommand,
  streams: Streams,
): Promise<Streams | undefined> {
  const result = { ...streams }
  for (const { operator, file } of redirections) {
    if (operator === '2>&1') result.err = result.out
    if (operator.endsWith('>&2')) result.out = result.err
    if (file === '') continue
    const name = expand(file, valueIn(shell)).join(' ')
    const path = absolute(shell, name)
    try {
      if (operator === '<') {
        result.input = inputFile(shell.files, path)
        continue
      }
      const sink = appendingSink(shell.files, path, operator.endsWith('>>'), streams.signal)
      if (!operator.startsWith('2')) result.out = sink
      if (/^[2&]/.test(operator)) result.err = sink
    } catch (error) {
      await streams.err(`bash: ${name}: ${reason(error)}\n`)
      return undefined
    }
  }
  return result
}

function valueIn(shell: ShellState): (name: string) => string {
  return name => (name === '?' ? String(shell.status) : (shell.variables.get(name) ?? ''))
}
