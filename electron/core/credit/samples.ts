import * as v from 'valibot'

/** `[at, credit]`: epoch seconds of the account's time, micro-dollars. Pairs, since there are many of them. */
export const KeptSamples = v.array(v.tuple([v.number(), v.number()]))
export type KeptSample = v.InferOutput<typeof KeptSamples>[number]

/** Seconds: one sample every five minutes for the last two days, one an hour for sixty days, nothing older. */
const step = 300
const fineFor = 2 * 86_400
const coarseStep = 3600
const keptFor = 60 * 86_400

/**
 * The samples with one more, `kept` itself when it is too soon for one. Time that went back (another world, a clock
 * put right) takes with it what would lie in the future.
 */
export function withSample(kept: readonly KeptSample[], at: number, credit: number): readonly KeptSample[] {
  const past = kept.at(-1)?.[0] ?? 0
  if (Math.floor(at / step) === Math.floor(past / step)) return kept
  const before = at < past ? kept.filter(([then]) => then < at) : kept
  return [...thinned(before, at), [Math.round(at), Math.round(credit)]]
}

/** At most some 2,000: what is older than two days is thinned to the first of each hour. */
function thinned(samples: readonly KeptSample[], now: number): KeptSample[] {
  let lastHour = Number.NaN
  return samples.filter(([at]) => {
    if (at < now - keptFor) return false
    if (at >= now - fineFor) return true
    const hour = Math.floor(at / coarseStep)
    const first = hour !== lastHour
    lastHour = hour
    return first
  })
}
