import type { Connection, PseudoTtyInfo, ServerChannel, Session } from 'ssh2'
import type { Scratch } from '../files/scratch.ts'
import type { Machine } from '../machine.ts'
import type { Background } from '../runs/background.ts'
import type { ShellState, Terminal } from './command.ts'
import { interact } from './interactive.ts'
import { runLine } from './run-line.ts'
import { streamSink, terminalSink } from './sink.ts'

const ctrlC = 3

/** Answers a session's requests for a terminal, a shell or one command. The client's environment is ignored. */
export function serveShell(
  session: Session,
  connection: Connection,
  machine: Machine,
  disk: { files: Scratch; background: Background },
): void {
  const shell = newShell(machine, disk)
  const gone = new AbortController()
  const leave = () => gone.abort()
  session.once('close', leave)
  connection.once('close', leave)
  gone.signal.addEventListener('abort', () => connection.removeListener('close', leave))

  session.on('pty', (accept, _reject, info) => {
    shell.terminal = size(info)
    shell.variables.set('TERM', /^[\w.+-]{1,64}$/.test(info.term) ? info.term : 'xterm')
    accept?.()
  })
  session.on('window-change', (accept, _reject, info) => {
    if (shell.terminal !== undefined) Object.assign(shell.terminal, size(info)).onResize?.()
    accept?.()
  })
  session.on('shell', accept => {
    const channel = accept()
    void interact(channel, shell, gone.signal).then(status => end(channel, status))
  })
  session.on('exec', (accept, _reject, { command }) => {
    const channel = accept()
    void runOne(channel, session, command, shell, gone.signal).then(status => end(channel, status))
  })
}

function newShell(machine: Machine, disk: { files: Scratch; background: Background }): ShellState {
  const variables = new Map([
    ['SHELL', '/bin/bash'],
    ['PWD', '/workspace'],
    ['HOME', '/root'],
    ['USER', 'root'],
    ['LOGNAME', 'root'],
    ['LANG', 'C.UTF-8'],
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOSTNAME', machine.hostname],
    ['GPU_COUNT', String(machine.gpu.count)],
    ['NVIDIA_VISIBLE_DEVICES', 'all'],
    ...Object.entries(machine.environment),
  ])
  return {
    machine,
    ...disk,
    folder: '/workspace',
    variables,
    status: 0,
    ending: undefined,
    terminal: undefined,
  }
}

/** Runs one command. With a terminal its input is the keyboard, of which only Ctrl-C has an effect. */
async function runOne(
  channel: ServerChannel,
  session: Session,
  line: string,
  shell: ShellState,
  gone: AbortSignal,
): Promise<number> {
  const interrupt = new AbortController()
  const signal = AbortSignal.any([gone, interrupt.signal])
  session.on('signal', accept => {
    interrupt.abort()
    accept?.()
  })
  const out = streamSink(channel, signal)
  if (shell.terminal === undefined) {
    return runLine(shell, line, { out, err: streamSink(channel.stderr, signal), input: channel, signal })
  }
  channel.on('data', (typed: Buffer) => {
    if (typed.includes(ctrlC)) interrupt.abort()
  })
  const terminal = terminalSink(out)
  return runLine(shell, line, { out: terminal, err: terminal, input: undefined, signal })
}

function end(channel: ServerChannel, status: number): void {
  channel.exit(status)
  channel.end()
  channel.resume() // unread input must not hold the channel open
}

/** Columns and rows from 1 to 1000, whatever the client says; 0 means that it does not know. */
function size({ cols, rows }: Pick<PseudoTtyInfo, 'cols' | 'rows'>): Terminal {
  const within = (value: number, unknown: number) => (value > 0 ? Math.min(value, 1000) : unknown)
  return { columns: within(cols, 80), rows: within(rows, 24) }
}
