import { networkInterfaces } from 'node:os'
import type { Clock } from './platform.ts'

/** Milliseconds between checks; a check that comes this much too late means that the computer slept. */
const glance = 5_000
const slept = 20_000

/**
 * Calls back when this machine's addresses change or it wakes, where the system sends no event. The next poll would be
 * later: its interval grows while offline. Gives the function that ends this.
 */
export function watchNetwork(clock: Clock, changed: () => void, addresses = addressesNow): () => void {
  let before = addresses()
  let at = clock.now()
  let cancel = clock.after(glance, check)

  function check(): void {
    const now = addresses()
    const late = clock.now() - at > glance + slept
    if (late || (now !== before && now !== '')) changed()
    before = now
    at = clock.now()
    cancel = clock.after(glance, check)
  }

  return () => cancel()
}

/** All external addresses in one text to compare; empty without a network. */
function addressesNow(): string {
  return Object.entries(networkInterfaces())
    .flatMap(([name, addresses]) =>
      (addresses ?? []).filter(({ internal }) => !internal).map(({ address }) => `${name} ${address}`),
    )
    .sort()
    .join('\n')
}
