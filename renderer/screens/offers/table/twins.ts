import type { Catalogue, ListedOffer } from '#shared/market/catalogue.ts'

/** The prices of twins differ by at most this share. */
const sameShare = 0.02

/**
 * A key that is equal for twins: host, GPU, CPU, RAM, disk and place, without price, network and score. Undefined if
 * too little is known about the offer.
 */
function likenessOf({ offer, price, region }: ListedOffer): string | undefined {
  const { hostId, machineId, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability } = offer
  const whose = hostId ?? (machineId === undefined ? undefined : `m${machineId}`)
  if (whose === undefined || gpuName === undefined || price === undefined) return undefined
  const amounts = [offer.memory, offer.disk].map(each => Math.round(each ?? -1))
  return [whose, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability, region, ...amounts].join(
    '|',
  )
}

/** Table rows in which one stands for all its twins; each is an offer's position in the answer. */
export interface Grouped {
  /** In order; the other offers of an open group follow its first one. */
  readonly rows: readonly number[]
  /** How many others a row stands for. */
  othersOf(row: number): number
  /** The rows that follow the first of their group. */
  readonly members: ReadonlySet<number>
}

/** Finds similar offers at about the same price in an answer, once for all orders and filters. */
export class Twins {
  /** By position: the number of a group of twins, or -1 for a single offer. */
  readonly #numbers: Int32Array
  readonly #positions: ReadonlyMap<number, number>

  constructor(answer: Pick<Catalogue, 'offers'>) {
    this.#numbers = numbersOf(answer.offers)
    this.#positions = new Map(answer.offers.map(({ offer }, position) => [offer.id, position]))
  }

  /** The position of an offer in the answer. */
  positionOf(id: number): number | undefined {
    return this.#positions.get(id)
  }

  /**
   * Groups twins behind the first of them.
   * @param order positions of the offers shown
   * @param open ids of first rows whose others are shown
   */
  grouped(order: readonly number[], open: ReadonlySet<number>): Grouped {
    const numbers = this.#numbers
    const firsts: number[] = []
    const firstOf = new Int32Array(numbers.length).fill(-1)
    const others = new Uint32Array(numbers.length)
    for (const position of order) {
      const number = numbers[position] ?? -1
      const first = firstOf[number] ?? -1
      if (first >= 0) {
        others[first] = (others[first] ?? 0) + 1
        continue
      }
      firsts.push(position)
      if (number >= 0) firstOf[number] = position
    }
    const shownTo = (first: number) =>
      order.filter(position => position !== first && numbers[position] === numbers[first])
    const opened = new Map<number, number[]>()
    for (const id of open) {
      const first = this.#positions.get(id) ?? -1
      if (others[first]) opened.set(first, shownTo(first))
    }
    return {
      rows: opened.size === 0 ? firsts : firsts.flatMap(first => [first, ...(opened.get(first) ?? [])]),
      othersOf: row => others[row] ?? 0,
      members: new Set([...opened.values()].flat()),
    }
  }
}

function numbersOf(offers: readonly ListedOffer[]): Int32Array {
  const groups = new Map<string, number[]>()
  for (const [position, listed] of offers.entries()) {
    const likeness = likenessOf(listed)
    if (likeness === undefined) continue
    const group = groups.get(likeness)
    if (group) group.push(position)
    else groups.set(likeness, [position])
  }
  const numbers = new Int32Array(offers.length).fill(-1)
  const priceOf = (position: number) => offers[position]?.price ?? 0
  let number = -1
  for (const group of groups.values()) {
    if (group.length === 1) continue
    let lowest = Number.NEGATIVE_INFINITY
    for (const position of group.sort((a, b) => priceOf(a) - priceOf(b))) {
      const price = priceOf(position)
      if (price - lowest > sameShare * price) {
        lowest = price
        number += 1
      }
      numbers[position] = number
    }
  }
  return numbers
}
