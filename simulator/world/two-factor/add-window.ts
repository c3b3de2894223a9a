import type { AccountState } from '../account/account.ts'
import type { WorldClock } from '../clock.ts'
import { twoFactorRefusal } from './refusals.ts'

/** World milliseconds in which methods may be added (section 8). */
const WINDOW = 30 * 60_000

/** The time after an authorization in which methods may be added, stored in the service's cache. */
export class AddWindow {
  readonly #state: AccountState
  readonly #clock: WorldClock
  #ends = Number.NEGATIVE_INFINITY

  constructor(state: AccountState, clock: WorldClock) {
    this.#state = state
    this.#clock = clock
  }

  open(): void {
    this.#ends = this.#clock.now() + WINDOW
  }

  /** Whether a method may be added now, if the cache is available. */
  isOpen(): boolean {
    return !this.#state.cache_down && this.#clock.now() < this.#ends
  }

  /** Throws 503 `service_unavailable` while the cache is down. */
  refuseUnavailable(): void {
    if (!this.#state.cache_down) return
    throw twoFactorRefusal('service_unavailable', 'The authorization cannot be checked now. Try again.')
  }

  /** Throws 403 `authorization_required` when the window is closed, 503 while the cache is down. */
  require(): void {
    this.refuseUnavailable()
    if (this.isOpen()) return
    throw twoFactorRefusal(
      'authorization_required',
      'Authorize the new method first: that holds for 30 minutes.',
    )
  }
}
