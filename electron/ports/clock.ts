/** Time on this machine. The account's time for events at the service is in core/instances/polling/account-clock. */
export interface Clock {
  /** Epoch milliseconds by this machine's clock, which may jump. For display, never for durations. */
  now(): number
  /** Milliseconds from an arbitrary zero, on a clock that never jumps back. */
  monotonic(): number
  /** Calls back once after these milliseconds; returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}
