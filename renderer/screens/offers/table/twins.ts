import type { ListedOffer } from '../../../../electron/contract/market/catalogue.ts'

/** Prices of equal machines differ by less than this share. */
const sameShare = 0.02

/** What must be the same of two offers for one row to stand for both: everything that a row shows, but the price. */
export function likenessOf({ offer, region }: ListedOffer): string {
  const { hostId, machineId, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability } = offer
  const whose = hostId ?? `m${machineId}`
  const amounts = [offer.memory, offer.disk].map(each => Math.round(each ?? -1))
  return [whose, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability, region, ...amounts].join(
    '|',
  )
}

/** Rows of a table in which one stands for all that are like it. */
export interface Grouped {
  /** In order; those of a group that is open follow the first of it. */
  readonly rows: readonly ListedOffer[]
  /** How many each first row stands for, itself included, by its id; only where that is more than one. */
  readonly sizes: ReadonlyMap<number, number>
  /** The rows that follow the first of their group, by id. */
  readonly members: ReadonlySet<number>
}

/**
 * Offers with those that are alike behind the first of them.
 * @param likeness as `likenessOf` gives it, worked out once per answer
 * @param open ids of first rows whose others are shown
 */
export function grouped(
  offers: readonly ListedOffer[],
  likeness: ReadonlyMap<ListedOffer, string>,
  open: ReadonlySet<number>,
): Grouped {
  const groups = new Map<string, ListedOffer[][]>()
  const order: ListedOffer[][] = []
  for (const listed of offers) {
    const like = likeness.get(listed) ?? ''
    const alike = groups.get(like)
    const group = alike?.find(([first]) => first && costsTheSame(first, listed))
    if (group) group.push(listed)
    else {
      const fresh = [listed]
      order.push(fresh)
      if (alike) alike.push(fresh)
      else groups.set(like, [fresh])
    }
  }
  const rows: ListedOffer[] = []
  const sizes = new Map<number, number>()
  const members = new Set<number>()
  for (const group of order) {
    const [first, ...others] = group
    if (!first) continue
    rows.push(first)
    if (others.length === 0) continue
    sizes.set(first.offer.id, group.length)
    if (!open.has(first.offer.id)) continue
    for (const other of others) {
      rows.push(other)
      members.add(other.offer.id)
    }
  }
  return { rows, sizes, members }
}

function costsTheSame({ price: a }: ListedOffer, { price: b }: ListedOffer): boolean {
  if (a === undefined || b === undefined) return a === b
  return Math.abs(a - b) <= sameShare * Math.max(a, b)
}
