import type { Clock } from '#machine/machine.ts'

/** The milliseconds that a speed is averaged over. */
const window = 5000

/** The growth rate of an amount over the last seconds. */
export interface Speed {
  /** The rate per second, given the present amount; undefined until there is enough to measure. */
  at(amount: number): number | undefined
  /** Discards earlier samples. */
  restart(amount: number): void
}

export function createSpeed(clock: Clock): Speed {
  let samples: { at: number; amount: number }[] = []
  return {
    restart(amount) {
      samples = [{ at: clock.monotonic(), amount }]
    },
    at(amount) {
      const now = clock.monotonic()
      const last = samples.at(-1)
      if (last === undefined || now - last.at >= 200) samples.push({ at: now, amount })
      while (samples.length > 2 && now - (samples[1]?.at ?? now) >= window) samples.shift()
      const [first] = samples
      if (first === undefined || now - first.at < 400) return undefined
      return Math.max(0, ((amount - first.amount) / (now - first.at)) * 1000)
    },
  }
}
