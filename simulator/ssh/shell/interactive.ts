import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import type { ServerChannel } from 'ssh2'
import type { ShellState } from './command.ts'
import { runLine } from './run-line.ts'
import { streamSink, terminalSink } from './sink.ts'

/** The most bytes typed ahead: beyond this the client has to wait. */
const typedAheadLimit = 64 * 1024

/**
 * An interactive shell, until `exit`, Ctrl-D, or the end of the channel. Gives its exit status. Without a terminal
 * lines run alike, but without echo and prompt. Never rejects.
 */
export async function interact(
  channel: ServerChannel,
  shell: ShellState,
  gone: AbortSignal,
): Promise<number> {
  const keys = new PassThrough()
  const screen = screenOf(channel)
  const editor = editorOf(screen, keys, shell)
  /** What was typed while a line runs, which `running` ends. */
  let held = Buffer.alloc(0)
  let running: AbortController | undefined
  let ended = false

  const show = (text: string) => shell.terminal && screen.write(text)
  const prompt = () => {
    editor.setPrompt(promptOf(shell))
    if (shell.terminal) editor.prompt()
  }
  /** Gives the editor the held input, up to the end of a line. */
  const pass = () => {
    while (running === undefined && held.length > 0) {
      const end = held.findIndex(byte => byte === 13 || byte === 10)
      const text = end < 0 ? held : held.subarray(0, end)
      held = end < 0 ? Buffer.alloc(0) : held.subarray(held.indexOf('\r\n') === end ? end + 2 : end + 1)
      // What comes in one piece counts as pasted, which readline appends wherever the cursor is.
      const isAppended = editor.cursor === editor.line.length && !text.includes('\x1b')
      for (const piece of isAppended ? [text] : Array.from(text, byte => Buffer.of(byte))) keys.write(piece)
      if (end < 0) break
      running = new AbortController()
      keys.write('\r')
    }
    if (held.length < typedAheadLimit) channel.resume()
    if (ended && running === undefined) keys.end()
  }
  show(welcome(shell))
  prompt()
  channel.on('data', (bytes: Buffer) => {
    const cut = running === undefined ? -1 : bytes.lastIndexOf('\x03')
    held = cut < 0 ? Buffer.concat([held, bytes]) : Buffer.from(bytes.subarray(cut + 1))
    if (cut >= 0) running?.abort()
    if (held.length >= typedAheadLimit) channel.pause()
    pass()
  })
  channel.once('end', () => {
    ended = true
    pass()
  })
  editor.on('SIGINT', () => {
    editor.write(null, { ctrl: true, name: 'e' })
    show('^C\r\n')
    editor.write(null, { ctrl: true, name: 'u' })
  })
  gone.addEventListener('abort', () => editor.close(), { once: true })
  const left = once(editor, 'close')

  async function take(line: string): Promise<void> {
    running ??= new AbortController()
    const { signal } = running
    await run(channel, screen, shell, line, AbortSignal.any([gone, signal]))
    if (signal.aborted) show('^C\r\n')
    running = undefined
    if (shell.ending !== undefined) {
      editor.close()
      return
    }
    prompt()
    pass()
  }
  editor.on('line', line => void take(line).catch(() => editor.close()))
  await left
  if (shell.ending === undefined) show('logout\r\n')
  await streamSink(screen, gone)('').catch(() => undefined)
  return shell.ending ?? shell.status
}

/** Takes what the editor and commands write, in its order; many pieces at once while the client is slow. */
function screenOf(channel: ServerChannel): Writable {
  return new Writable({
    writev: (pieces, done) => {
      if (channel.writable) channel.write(Buffer.concat(pieces.map(({ chunk }) => chunk)), done)
      else done()
    },
  })
}

/** Reads lines from keys, with editing and a history where there is a terminal. */
function editorOf(output: Writable, input: PassThrough, { terminal }: ShellState): Interface {
  if (terminal) {
    const resize = () => Object.assign(output, terminal).emit('resize')
    terminal.onResize = resize
    resize()
  }
  const editor = createInterface({
    input,
    output,
    terminal: terminal !== undefined,
    historySize: 1000,
    completer: (line: string) => [[], line],
  })
  // Without a listener, Ctrl-Z would stop this process.
  return editor.on('SIGTSTP', () => undefined)
}

async function run(
  channel: ServerChannel,
  screen: Writable,
  shell: ShellState,
  line: string,
  signal: AbortSignal,
): Promise<void> {
  if (line.trim() === '') return
  const plain = streamSink(screen, signal)
  const out = shell.terminal === undefined ? plain : terminalSink(plain)
  const err = shell.terminal === undefined ? streamSink(channel.stderr, signal) : out
  await runLine(shell, line, { out, err, input: undefined, signal })
}

function promptOf({ machine, folder }: ShellState): string {
  const shown =
    folder === '/root' || folder.startsWith('/root/') ? `~${folder.slice('/root'.length)}` : folder
  const name = `root@${machine.hostname}`
  return `\x1b[1;32m${name}\x1b[0m:\x1b[1;34m${shown.replace(/\p{Cc}/gu, '?')}\x1b[0m# `
}

function welcome({ machine }: ShellState): string {
  const gpus = `${machine.gpu.count} × ${machine.gpu.name}, ${Math.round(machine.gpu.memoryMb / 1024)} GB each`
  return [
    `Welcome to instance ${machine.instanceId}: ${gpus}.`,
    'This machine is simulated and costs nothing. Type help for what it knows.',
    '',
    '',
  ].join('\r\n')
}
