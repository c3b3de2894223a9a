import { setImmediate } from 'node:timers/promises'
import type { ServerChannel } from 'ssh2'
import type { ShellState } from './command.ts'
import { type Key, KeyReader } from './keys.ts'
import { LineEditor } from './line-editor.ts'
import { runLine } from './run-line.ts'
import { Interrupted, streamSink, terminalSink } from './sink.ts'

/** The most keys and bytes typed ahead: beyond this the client has to wait. */
const typedAheadLimit = 64 * 1024

const longestHistory = 1000

/**
 * An interactive shell, until `exit`, Ctrl-D, or the end of the channel. Gives its exit status. Without a terminal
 * lines run alike, but without echo and prompt. Never rejects.
 */
export async function interact(
  channel: ServerChannel,
  shell: ShellState,
  gone: AbortSignal,
): Promise<number> {
  const keyboard = new Keyboard(channel, gone)
  const terminal = shell.terminal
  const screen = terminal === undefined ? () => Promise.resolve() : streamSink(channel, gone)
  try {
    await screen(welcome(shell))
    while (shell.ending === undefined) {
      const prompt = promptOf(shell)
      const editor = new LineEditor(terminal ?? { columns: 80, rows: 24 }, shell.history, prompt)
      await screen(prompt)
      const line = await readLine(keyboard, editor, screen)
      if (line === undefined) {
        await screen('logout\r\n')
        return shell.status
      }
      await run(channel, shell, line, keyboard, gone)
    }
    return shell.ending
  } catch (error) {
    if (error instanceof Interrupted) return shell.status
    return 1
  }
}

async function readLine(
  keyboard: Keyboard,
  editor: LineEditor,
  screen: (text: string) => Promise<void>,
): Promise<string | undefined> {
  for (;;) {
    const key = await keyboard.next()
    if (key === undefined) return undefined
    const { screen: shown, done } = editor.press(key)
    if (shown !== '') await screen(shown)
    if (done !== undefined) return done.line
  }
}

async function run(
  channel: ServerChannel,
  shell: ShellState,
  line: string,
  keyboard: Keyboard,
  gone: AbortSignal,
): Promise<void> {
  if (line.trim() === '') return
  if (line !== shell.history.at(-1)) shell.history.push(line)
  if (shell.history.length > longestHistory) shell.history.shift()
  const interrupt = new AbortController()
  const signal = AbortSignal.any([gone, interrupt.signal])
  const plain = streamSink(channel, signal)
  const out = shell.terminal === undefined ? plain : terminalSink(plain)
  const err = shell.terminal === undefined ? streamSink(channel.stderr, signal) : out
  keyboard.onInterrupt = () => interrupt.abort()
  await runLine(shell, line, { out, err, input: undefined, signal })
  keyboard.onInterrupt = undefined
  if (interrupt.signal.aborted) await streamSink(channel, gone)('^C\r\n')
  await setImmediate() // many short lines at once must not keep other sessions waiting
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

/** The keys typed into a channel, in order; Ctrl-C is handled at once while a command runs. */
class Keyboard {
  /** Called at Ctrl-C, which also drops keys typed ahead. Without it Ctrl-C is a key like others. */
  onInterrupt: (() => void) | undefined
  readonly #channel: ServerChannel
  readonly #reader = new KeyReader()
  #keys: Key[] = []
  #held = 0
  #ended = false
  #wake: (() => void) | undefined

  constructor(channel: ServerChannel, gone: AbortSignal) {
    this.#channel = channel
    const end = () => {
      this.#ended = true
      this.#wake?.()
    }
    channel.on('data', (bytes: Buffer) => this.#take(bytes))
    channel.once('end', end)
    gone.addEventListener('abort', end, { once: true })
  }

  /** The next key; undefined at the end of the channel. */
  async next(): Promise<Key | undefined> {
    while (this.#keys.length === 0 && !this.#ended) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const key = this.#keys.shift()
    if (key !== undefined) this.#held -= sizeOf(key)
    if (this.#held < typedAheadLimit && this.#channel.isPaused()) this.#channel.resume()
    return key
  }

  #take(bytes: Buffer): void {
    for (const key of this.#reader.read(bytes)) {
      if (key.name === 'interrupt' && this.onInterrupt !== undefined) {
        this.#keys = []
        this.#held = 0
        this.onInterrupt()
        continue
      }
      this.#keys.push(key)
      this.#held += sizeOf(key)
    }
    if (this.#held >= typedAheadLimit) this.#channel.pause()
    this.#wake?.()
  }
}

function sizeOf(key: Key): number {
  return key.name === 'text' ? key.text.length : 1
}
