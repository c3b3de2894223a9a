/** One line of the bench: a comparison and its result. */
export interface Row {
  what: string
  /** The control and the conditions. */
  compared: string
  /** Such as `1.04 ×` or `0 bytes`. */
  measured: string
  budget: string
  kept: boolean
}

/** The size of the measurement. */
export interface Size {
  /** Runs each part once and small; the figures mean nothing. */
  smoke: boolean
}

/** A row whose figure is a ratio of two medians. */
export function ratioRow(what: string, compared: string, ratio: number, atMost: number): Row {
  return {
    what,
    compared,
    measured: `${ratio.toFixed(2)} ×`,
    budget: `at most ${atMost} ×`,
    kept: ratio <= atMost,
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

/** The value below which a share of the values lies; `share` is 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Runs two functions in turn, so that noise hits both; gives the median milliseconds of each. */
export async function inTurn(
  rounds: number,
  first: () => unknown,
  second: () => unknown,
  warmUps = 3,
): Promise<{ first: number; second: number }> {
  const times = { first: [] as number[], second: [] as number[] }
  for (let round = -warmUps; round < rounds; round += 1) {
    const one = await timed(first)
    const two = await timed(second)
    if (round < 0) continue
    times.first.push(one)
    times.second.push(two)
  }
  return { first: median(times.first), second: median(times.second) }
}

/** The result of two functions run pair by pair. */
export interface Pairs {
  /** Median milliseconds of the first. */
  first: number
  /** Median over the pairs of the second's time divided by the first's. */
  ratio: number
  /** The quartiles between which half of the ratios lie. */
  spread: [number, number]
}

/**
 * Runs two functions pair by pair in alternating order and compares within each pair, so that other load hits both.
 * `before` runs ahead of each call and does not count.
 */
export async function inPairs(
  pairs: number,
  first: () => unknown,
  second: () => unknown,
  before: () => unknown = () => undefined,
): Promise<Pairs> {
  const took = async (work: () => unknown) => {
    await before()
    return timed(work)
  }
  const firsts: number[] = []
  const ratios: number[] = []
  for (let pair = -2; pair < pairs; pair += 1) {
    const early = pair % 2 === 0 ? await took(first) : undefined
    const other = await took(second)
    const one = early ?? (await took(first))
    if (pair < 0) continue
    firsts.push(one)
    ratios.push(other / one)
  }
  return {
    first: median(firsts),
    ratio: median(ratios),
    spread: [percentile(ratios, 0.25), percentile(ratios, 0.75)],
  }
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
