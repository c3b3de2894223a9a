import { type Coded, code, decode, type Others, uncloneable } from './codec.ts'

/**
 * One end of the connection between a page's world and its preload's, as in Electron's contextBridge: values are copied
 * without prototypes, functions and promises become proxies, errors keep their message. The worlds share only a
 * detached node; a call is an event on it, answered synchronously.
 */
export class Crossing {
  readonly #node: EventTarget
  readonly #to: string
  readonly #back: string
  readonly #functions: ((...args: unknown[]) => unknown)[] = []
  readonly #promises = new Map<number, (settled: Settled) => void>()
  #lastPromise = 0

  /** `here` and `there` name the two ends. */
  constructor(node: EventTarget, here: string, there: string) {
    this.#node = node
    this.#to = `to ${there}`
    this.#back = `back to ${here}`
    node.addEventListener(`to ${here}`, event => {
      const answer = this.#take(JSON.parse((event as CustomEvent<string>).detail))
      node.dispatchEvent(new CustomEvent(`back to ${there}`, { detail: JSON.stringify(answer) }))
    })
  }

  /** Calls a function of the other end by its number. */
  call(target: number, args: readonly unknown[]): unknown {
    const answer = this.#ask({ call: target, args: code([...args], this.#others) })
    if ('thrown' in answer) throw new Error(answer.thrown)
    return decode(answer.value, this.#others)
  }

  /** Makes a function callable from the other end; gives its number. */
  offer(offered: (...args: unknown[]) => unknown): number {
    return this.#functions.push(offered) - 1
  }

  #ask(message: Message): Result {
    let answer: Result = { thrown: 'the other world does not answer' }
    const listen = (event: Event) => {
      answer = JSON.parse((event as CustomEvent<string>).detail)
    }
    this.#node.addEventListener(this.#back, listen, { once: true })
    this.#node.dispatchEvent(new CustomEvent(this.#to, { detail: JSON.stringify(message) }))
    return answer
  }

  #take(message: Message): Result {
    try {
      if ('call' in message) {
        const args = decode(message.args, this.#others) as unknown[]
        return { value: code(this.#functions[message.call]?.(...args), this.#others) }
      }
      this.#promises.get(message.promise)?.(message.settled)
      this.#promises.delete(message.promise)
      return { value: null }
    } catch (error) {
      return { thrown: error instanceof Error ? error.message : uncloneable }
    }
  }

  readonly #others: Others = {
    code: value => {
      if (typeof value === 'symbol') return ['symbol', value.description ?? '']
      if (typeof value === 'function')
        return ['function', this.offer(value as (...args: unknown[]) => unknown)]
      return value instanceof Promise ? this.#codePromise(value) : undefined
    },
    decode: ([tag, number]) => {
      if (tag === 'symbol') return Symbol(String(number))
      if (tag === 'promise')
        return new Promise((resolve, reject) => {
          this.#promises.set(Number(number), settled => {
            if ('thrown' in settled) reject(new Error(settled.thrown))
            else resolve(decode(settled.value, this.#others))
          })
        })
      return (...args: unknown[]) => this.call(Number(number), args)
    },
  }

  #codePromise(promise: Promise<unknown>): Coded {
    const number = ++this.#lastPromise
    promise.then(
      value => this.#ask({ promise: number, settled: { value: code(value, this.#others) } }),
      (error: unknown) => this.#ask({ promise: number, settled: { thrown: String(error) } }),
    )
    return ['promise', number]
  }
}

type Result = { value: Coded } | { thrown: string }
type Settled = Result
type Message = { call: number; args: Coded } | { promise: number; settled: Settled }
