import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Args, CommandName } from '../../../../electron/contract/commands.ts'
import type { AccountView } from '../../../../electron/contract/state.ts'
import type { FromBerth, Life, LifeStatus, Moment, Seen, ToBerth } from './messages.ts'

/** The refusal of a command, as shown to a user; `gone` if the process died before its answer. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refused'
    this.code = code
  }
}

export interface LifeEvents {
  polling(): void
  polled(credit: boolean): void
  seen(seen: Seen): void
  asks(mark: string, polled: boolean): void
  /** The process was killed or closed. */
  ended(): void
  /** A failure of the soak: an unforeseen error, or a process that ends by itself. */
  broken(what: string): void
}

/** The answer to a call. */
type Answered = Extract<FromBerth, { kind: 'answer' | 'problem' }>

/** One process of Berth, from its start to its death. */
export class OneLife {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Refused): void }>()
  #calls = 0
  #hasBegun = false
  #isEnding = false
  #isDoomed = false
  #isDead = false
  #onStatus: (status: LifeStatus) => void = () => undefined

  constructor(program: string, events: LifeEvents) {
    const child = fork(program, { execArgv: [], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
    this.#child = child
    this.#exit = once(child, 'exit')
    let complaints = ''
    child.stderr?.on('data', (data: Buffer) => {
      complaints = `${complaints}${data}`.slice(-4000)
    })
    child.on('message', (message: FromBerth) => {
      if (message.kind === 'begun') this.#hasBegun = true
      else if (message.kind === 'status') this.#onStatus(message.status)
      else if (message.kind === 'seen') events.seen(message.seen)
      else if (message.kind === 'asks') events.asks(message.mark, message.polled)
      else if (message.kind === 'polling') events.polling()
      else if (message.kind === 'polled') events.polled(message.credit)
      else if (message.kind === 'unforeseen') events.broken(message.text)
      else this.#answered(message)
    })
    child.once('exit', (code, signal) => {
      this.#isDead = true
      for (const { reject } of this.#waiting.values()) reject(new Refused('gone', 'It was killed.'))
      this.#waiting.clear()
      if (!this.#isEnding) events.broken(`Berth ended by itself with ${code ?? signal}: ${complaints}`)
      if (this.#hasBegun) events.ended()
    })
  }

  get isAlive(): boolean {
    return !this.#isDead
  }

  /** Whether its death is planned. */
  get isDoomed(): boolean {
    return this.#isDoomed
  }

  /** Whether it accepts commands. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The number of calls sent to it. */
  get calls(): number {
    return this.#calls
  }

  begin(life: Life): void {
    this.#tell({ kind: 'begin', life })
  }

  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Answer<Name>> {
    return this.#call(name, args) as Promise<Answer<Name>>
  }

  account(): Promise<AccountView | null> {
    return this.#call('account', {}) as Promise<AccountView | null>
  }

  /** Advances its time; gives its status then, or undefined if it has died. */
  async advance(to: number, held: number): Promise<LifeStatus | undefined> {
    if (this.#isDead) return undefined
    const status = new Promise<LifeStatus>(resolve => {
      this.#onStatus = resolve
    })
    this.#tell({ kind: 'advance', to, held })
    return Promise.race([status, this.#exit.then(() => undefined)])
  }

  /** Plans its death at the n-th occurrence of a moment from now on. */
  dieAt(at: Moment, times: number): void {
    this.#isEnding = true
    this.#isDoomed = true
    this.#tell({ kind: 'die', at, times })
  }

  /** Kills it by SIGKILL and waits for its end. */
  async kill(): Promise<void> {
    this.#isEnding = true
    this.#child.kill('SIGKILL')
    if (!this.#isDead) await this.#exit
  }

  /** Ends it in order, with its last writes. */
  async close(): Promise<void> {
    this.#isEnding = true
    this.#tell({ kind: 'close' })
    if (!this.#isDead) await this.#exit
  }

  #call(name: CommandName | 'account', args: unknown): Promise<unknown> {
    if (this.#isDead || !this.#child.connected) return Promise.reject(new Refused('gone', 'It was killed.'))
    this.#calls += 1
    const id = this.#calls
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#tell({ kind: 'call', id, name, args })
    })
  }

  #answered(message: Answered): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'answer') waiting?.resolve(message.answer)
    else waiting?.reject(new Refused(message.code, message.message))
  }

  #tell(message: ToBerth): void {
    // A message to a process that has just died is lost.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
