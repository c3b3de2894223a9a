/** Time on this machine. What happens on the service is told in the account's time instead (core/instances/polling/account-clock). */
export interface Clock {
  /** Milliseconds since the epoch, as this machine believes; it may jump. For what people read, never for durations. */
  now(): number
  /** Milliseconds on a clock that never jumps back; its zero means nothing. */
  monotonic(): number
  /** Calls back once after so many milliseconds; gives the function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}
