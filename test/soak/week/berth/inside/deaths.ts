import type { Moment } from '../messages.ts'

/** Ends this process by SIGKILL at the n-th time something happens from when that is asked for. */
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
