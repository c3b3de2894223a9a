import type { BerthError } from '#shared/problem.ts'

/** Hears how an end came out: whether Berth had to request it, or why it is not over. */
export type Waiter = (outcome: BerthError | boolean) => void

/** Those who wait for the ends of instances: until a reading shows one, or for one request and the poll after it. */
export class EndingWaiters {
  readonly #waiters = new Map<number, Set<Waiter>>()
  readonly #rounds = new Map<number, Set<() => void>>()

  /** Resolves with whether Berth had to request it; rejects with why it is not over. */
  whenSeen(instance: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(instance) ?? new Set()
      waiters.add(outcome => (typeof outcome === 'boolean' ? resolve(outcome) : reject(outcome)))
      this.#waiters.set(instance, waiters)
    })
  }

  /** Resolves once a request was answered and a poll after it was read. */
  whenRound(instance: number): Promise<void> {
    return new Promise(resolve => {
      this.#rounds.set(instance, (this.#rounds.get(instance) ?? new Set()).add(resolve))
    })
  }

  settle(instance: number, outcome: BerthError | boolean): void {
    for (const settle of this.take(instance)) settle(outcome)
  }

  settleAll(outcome: BerthError): void {
    for (const instance of [...this.#waiters.keys()]) this.settle(instance, outcome)
  }

  roundOver(instance: number): void {
    for (const done of this.#rounds.get(instance) ?? []) done()
    this.#rounds.delete(instance)
  }

  /** Those who wait for its end, whom the caller tells then. */
  take(instance: number): Iterable<Waiter> {
    const waiters = this.#waiters.get(instance) ?? []
    this.#waiters.delete(instance)
    return waiters
  }
}
