import type { Moment } from '../messages.ts'

/** Kills this process by SIGKILL at the n-th occurrence of a moment after `plan`. */
export class Deaths {
  #at: Moment | undefined
  #times = 0

  plan(at: Moment, times: number): void {
    this.#at = at
    this.#times = times
  }

  comes(moment: Moment): void {
    if (moment !== this.#at) return
    this.#times -= 1
    if (this.#times <= 0) process.kill(process.pid, 'SIGKILL')
  }
}
