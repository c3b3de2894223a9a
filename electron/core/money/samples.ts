import * as v from 'valibot'
import type { MoneySample } from '../../contract/spending/history.ts'
import type { Micros } from '../../contract/spending/money.ts'

/** `[end, spent, credit]`: epoch seconds of the account's time, micro-dollars. Tuples, since there are many of them. */
export const StoredSamples = v.array(v.tuple([v.number(), v.number(), v.nullable(v.number())]))
export type StoredSample = v.InferOutput<typeof StoredSamples>[number]

/** Seconds that a sample covers. */
export const sampleLength = 300
/** Seconds that samples are kept. */
const retention = 90 * 86_400

/**
 * The samples with one more amount: it goes to the sample of its five minutes, which is the last or a new one. Time
 * that went back takes with it what would lie in the future.
 */
export function withAmount(
  samples: readonly StoredSample[],
  at: number,
  spent: Micros,
  credit: Micros | undefined,
): StoredSample[] {
  const end = Math.ceil(at / sampleLength) * sampleLength
  const past = samples.filter(([then]) => then <= end)
  const last = past.at(-1)
  if (last?.[0] !== end) return [...past, [end, spent, credit ?? null]]
  return [...past.slice(0, -1), [end, last[1] + spent, credit ?? last[2]]]
}

/** Those of the ninety days up to the last of them: a clock that leaps ahead for one poll takes none with it. */
export function withoutOld(samples: readonly StoredSample[]): StoredSample[] {
  const last = samples.at(-1)?.[0] ?? 0
  return samples.filter(([end]) => end > last - retention)
}

/** At most so many samples of one length from a moment on, what falls together added up. Sums stay exact. */
export function thinnedSamples(samples: readonly StoredSample[], from: number, most: number): MoneySample[] {
  const seen = samples.filter(([end]) => end > from)
  const first = seen[0]?.[0]
  const last = seen.at(-1)?.[0]
  if (first === undefined || last === undefined) return []
  const length = Math.ceil((last - first + sampleLength) / most / sampleLength) * sampleLength
  const thin: MoneySample[] = []
  for (const [end, spent, credit] of seen) {
    const at = Math.ceil(end / length) * length
    const before = thin.at(-1)
    const sum = before?.at === at ? before.spent + spent : spent
    const known = credit ?? (before?.at === at ? before.credit : undefined)
    if (before?.at === at) thin.pop()
    thin.push({ at, spent: sum, credit: known })
  }
  return thin
}
