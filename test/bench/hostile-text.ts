import { many, nastyKinds } from '../hostile/megabytes.ts'
import { parsers } from '../hostile/parsers.ts'
import type { Row, Size } from './row.ts'

/** Rounds of each try: a bad result is measured again, longer, since other load only adds time. */
const patientRounds = [5, 25]
/** Milliseconds below which a comparison means nothing. */
const least = 5

/** Each parser of foreign text must take about four times as long for four times the text, of any kind. */
export function hostileTextRows({ smoke }: Size): Row[] {
  const small = (smoke ? 4 : 256) * 1024
  const large = 4 * small
  const rounds = smoke ? [1] : patientRounds
  return parsers.map(({ reads, read }) => {
    const worst = nastyKinds
      .map(([about, piece]) => {
        const [short, long] = [many(piece, small), many(piece, large)]
        let best = { about, four: 0, ratio: Number.POSITIVE_INFINITY }
        for (const times of rounds) {
          if (best.ratio <= 5) break
          const one = fastest(times, () => read(short))
          const four = fastest(times, () => read(long))
          best = { about, four, ratio: four / Math.max(one, least) }
        }
        return best
      })
      .reduce((most, kind) => (kind.ratio > most.ratio ? kind : most))
    return {
      what: `1 MB of each nasty kind: ${reads}`,
      compared: `over 256 KB; worst: ${worst.about}, ${worst.four.toFixed(1)} ms`,
      measured: `${worst.ratio.toFixed(2)} ×`,
      budget: 'at most 5 ×',
      kept: worst.ratio <= 5,
    }
  })
}

/** Milliseconds of the fastest of some rounds. */
function fastest(times: number, work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < times; round += 1) {
    const start = performance.now()
    work()
    best = Math.min(best, performance.now() - start)
  }
  return best
}
