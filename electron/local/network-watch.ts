import { networkInterfaces } from 'node:os'
import type { Clock } from '../ports/clock.ts'

/** Milliseconds between two glances; a glance that comes this much too late was slept through. */
const glance = 5_000
const slept = 20_000

/**
 * Calls back when this machine's addresses change, and when it woke up, where nothing tells: sooner than the next
 * poll, whose pause has grown while the network was away. Gives the function that ends this.
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

/** All but those that only this machine has, in one text to compare; empty without a network. */
function addressesNow(): string {
  return Object.entries(networkInterfaces())
    .flatMap(([name, addresses]) =>
      (addresses ?? []).filter(({ internal }) => !internal).map(({ address }) => `${name} ${address}`),
    )
    .sort()
    .join('\n')
}
