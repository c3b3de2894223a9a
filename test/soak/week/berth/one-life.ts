import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Args, CommandName } from '../../../../electron/contract/commands.ts'
import type { AccountView } from '../../../../electron/contract/state.ts'
import type { FromBerth, Life, Seen, ToBerth } from './messages.ts'

/** A command was refused, as a user would be told; `gone` where the process died before it answered. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refused'
    this.code = code
  }
}

export interface LifeEvents {
  looking(): void
  looked(): void
  seen(seen: Seen): void
  /** What must never happen: an error that nobody foresaw, a process that ends by itself. */
  broken(what: string): void
}

/** What became of a call. */
type Answered = Extract<FromBerth, { kind: 'answer' | 'problem' }>

/** One process of Berth's, from its start to its death. */
export class OneLife {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Refused): void }>()
  #calls = 0
  #isEnding = false
  #isDead = false
  #begun: () => void = () => undefined

  constructor(program: string, events: LifeEvents) {
    const child = fork(program, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
    this.#child = child
    let complaints = ''
    child.stderr?.on('data', (data: Buffer) => {
      complaints = `${complaints}${data}`.slice(-4000)
    })
    child.on('message', (message: FromBerth) => {
      if (message.kind === 'begun') this.#begun()
      else if (message.kind === 'seen') events.seen(message.seen)
      else if (message.kind === 'looking') events.looking()
      else if (message.kind === 'looked') events.looked()
      else if (message.kind === 'unforeseen') events.broken(message.text)
      else this.#answered(message)
    })
    child.once('exit', code => {
      this.#isDead = true
      for (const { reject } of this.#waiting.values()) reject(new Refused('gone', 'It was killed.'))
      this.#waiting.clear()
      if (!this.#isEnding) events.broken(`Berth ended by itself with ${code}: ${complaints}`)
    })
  }

  async begin(life: Life): Promise<void> {
    const begun = new Promise<void>(resolve => {
      this.#begun = resolve
    })
    this.#tell({ kind: 'begin', life })
    await Promise.race([begun, once(this.#child, 'exit')])
  }

  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Answer<Name>> {
    return this.#call(name, args) as Promise<Answer<Name>>
  }

  account(): Promise<AccountView | null> {
    return this.#call('account', {}) as Promise<AccountView | null>
  }

  /** SIGKILL: nothing of it happens any more. */
  async kill(): Promise<void> {
    await this.#end(() => this.#child.kill('SIGKILL'))
  }

  /** It ends as it should, and writes what it must. */
  async close(): Promise<void> {
    await this.#end(() => this.#tell({ kind: 'close' }))
  }

  async #end(how: () => void): Promise<void> {
    this.#isEnding = true
    if (this.#isDead) return
    const exit = once(this.#child, 'exit')
    how()
    await exit
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
    // Written to a process that has just died, it is lost as the process is.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
