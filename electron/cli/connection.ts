import { connect, type Socket } from 'node:net'
import type * as v from 'valibot'
import type { MainMessage, PageMessage } from '#contract/messages.ts'
import type { localRequests } from '#start/socket-lines.ts'
import type { Command } from '../contract/commands/command.ts'
import type { Answer, Args, CommandName } from '../contract/commands.ts'
import type { Problem } from '../shared/problem.ts'
import type { State } from '../shared/state.ts'
import { decodeLine, encodeLine, onLines } from '../start/socket-lines.ts'
import { CliFailure, cliRefusal, exitCodes } from './failure.ts'

type Local = typeof localRequests
type LocalName = keyof Local
type LocalArgs<Name extends LocalName> = v.InferInput<Local[Name]['args']>
type LocalAnswer<Name extends LocalName> = Local[Name] extends Command<infer _, infer Given> ? Given : never

interface Waiting {
  resolve(answer: unknown): void
  reject(error: Error): void
}

interface Reader {
  onBytes(bytes: Uint8Array): void
  onEnd(problem: Problem | undefined): void
}

type StreamMessage = Extract<MainMessage, { kind: 'data' | 'end' }>

/** A connection to a running Berth. Everything pending rejects once it is lost. */
export class BerthConnection {
  readonly #socket: Socket
  readonly #calls = new Map<number, Waiting>()
  readonly #readers = new Map<number, Reader>()
  /** Messages of streams without a reader yet: they can arrive together with the answer that names the stream. */
  readonly #unread = new Map<number, StreamMessage[]>()
  #states: Waiting[] = []
  #changes: Waiting[] = []
  #changed = false
  #last = 0
  #lost: CliFailure | undefined

  /** Rejects with the system's error where nothing listens. */
  static open(address: string): Promise<BerthConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(address)
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new BerthConnection(socket))
      })
    })
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#lose())
    onLines(socket, line => this.#receive(decodeLine(line) as MainMessage | undefined))
  }

  /** Sends one of the page's commands. Rejects with a CliFailure. */
  command<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Answer<Name>> {
    return this.#call(name, args) as Promise<Answer<Name>>
  }

  /** Sends a local request, which pages may not send. Rejects with a CliFailure. */
  local<Name extends LocalName>(name: Name, args: LocalArgs<Name>): Promise<LocalAnswer<Name>> {
    return this.#call(name, args) as Promise<LocalAnswer<Name>>
  }

  /** The present State. */
  state(): Promise<State> {
    return new Promise((resolve, reject) => {
      this.#changed = false
      this.#states.push({ resolve: state => resolve(state as State), reject })
      this.#send({ kind: 'sync' })
    })
  }

  /** Resolves once State has changed since `state` was last called. */
  change(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#lost) reject(this.#lost)
      else if (this.#changed) resolve()
      else this.#changes.push({ resolve: () => resolve(), reject })
    })
  }

  /** Reads a stream to its end. Rejects with a CliFailure if it failed. */
  read(stream: number, onBytes: (bytes: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost)
      this.#readers.set(stream, {
        onBytes: bytes => {
          onBytes(bytes)
          this.#send({ kind: 'grant', stream, bytes: bytes.length })
        },
        onEnd: problem => (problem ? reject(cliRefusal(problem)) : resolve()),
      })
      for (const message of this.#unread.get(stream) ?? []) this.#deliver(message)
      this.#unread.delete(stream)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #call(name: string, args: unknown): Promise<unknown> {
    const call = ++this.#last
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject })
      this.#send({ kind: 'command', call, name, args })
    })
  }

  #send(message: PageMessage): void {
    if (this.#lost) this.#lose()
    else this.#socket.write(encodeLine(message))
  }

  #receive(message: MainMessage | undefined): void {
    if (message?.kind === 'answer') this.#take(message.call)?.resolve(message.answer)
    else if (message?.kind === 'refusal') {
      // Without a call, Berth ends the connection.
      if (message.call === 0) this.#end(message.problem)
      else this.#take(message.call)?.reject(cliRefusal(message.problem))
    } else if (message?.kind === 'state')
      for (const { resolve } of this.#states.splice(0)) resolve(message.state)
    else if (message?.kind === 'patch') {
      this.#changed = true
      for (const { resolve } of this.#changes.splice(0)) resolve(undefined)
    } else if (message?.kind === 'data' || message?.kind === 'end') this.#deliver(message)
  }

  #deliver(message: StreamMessage): void {
    const { stream } = message
    const reader = this.#readers.get(stream)
    if (!reader) this.#unread.set(stream, [...(this.#unread.get(stream) ?? []), message])
    else if (message.kind === 'data') reader.onBytes(message.bytes)
    else {
      this.#readers.delete(stream)
      reader.onEnd(message.problem)
    }
  }

  #take(call: number): Waiting | undefined {
    const waiting = this.#calls.get(call)
    this.#calls.delete(call)
    return waiting
  }

  #end(problem: Problem): void {
    this.#lost = cliRefusal(problem)
    this.#socket.destroy()
  }

  #lose(): void {
    this.#lost ??= new CliFailure(exitCodes.unreachable, {
      code: 'berth_ended',
      message: 'Berth quit before it answered.',
    })
    const waiting = [...this.#calls.values(), ...this.#states.splice(0), ...this.#changes.splice(0)]
    this.#calls.clear()
    const lost = this.#lost
    for (const { reject } of waiting) reject(lost)
    for (const { onEnd } of this.#readers.values()) onEnd(lost.problem)
    this.#readers.clear()
  }
}
