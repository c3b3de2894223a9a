import type { ListedOffer } from '../../../../electron/contract/market/catalogue.ts'

/** Prices of equal machines differ by less than this share. */
const sameShare = 0.02

/** What must be the same of two offers for one row to stand for both: everything that a row shows, but the price. */
function likenessOf({ offer, region }: ListedOffer): string {
  const { hostId, machineId, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability } = offer
  const whose = hostId ?? `m${machineId}`
  const amounts = [offer.memory, offer.disk].map(each => Math.round(each ?? -1))
  return [whose, gpuName, gpuCount, gpuMemory, cpuName, verified, cuda, reliability, region, ...amounts].join(
    '|',
  )
}

/** Those that have others like them, each with what is the same of them; prices aside. */
export function twinsOf(offers: readonly ListedOffer[]): ReadonlyMap<ListedOffer, string> {
  const all = new Map(offers.map(listed => [listed, likenessOf(listed)]))
  const once = new Set<string>()
  const often = new Set<string>()
  for (const likeness of all.values()) (once.has(likeness) ? often : once).add(likeness)
  return new Map([...all].filter(([, likeness]) => often.has(likeness)))
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
 * @param twins as `twinsOf` gives them, worked out once per answer
 * @param open ids of first rows whose others are shown
 */
export function grouped(
  offers: readonly ListedOffer[],
  twins: ReadonlyMap<ListedOffer, string>,
  open: ReadonlySet<number>,
): Grouped {
  const firsts: ListedOffer[] = []
  const firstsOf = new Map<string, ListedOffer[]>()
  const others = new Map<ListedOffer, ListedOffer[]>()
  for (const listed of offers) {
    const likeness = twins.get(listed)
    const alike = likeness === undefined ? undefined : firstsOf.get(likeness)
    const first = alike?.find(one => costsTheSame(one, listed))
    const rest = first && others.get(first)
    if (rest) rest.push(listed)
    else if (first) others.set(first, [listed])
    else {
      firsts.push(listed)
      if (alike) alike.push(listed)
      else if (likeness !== undefined) firstsOf.set(likeness, [listed])
    }
  }
  const isOpen = ({ offer }: ListedOffer) => open.has(offer.id)
  return {
    rows:
      open.size === 0
        ? firsts
        : firsts.flatMap(first => (isOpen(first) ? [first, ...(others.get(first) ?? [])] : [first])),
    sizes: new Map([...others].map(([{ offer }, rest]) => [offer.id, rest.length + 1])),
    members: new Set(
      [...others].flatMap(([first, rest]) => (isOpen(first) ? rest.map(({ offer }) => offer.id) : [])),
    ),
  }
}

function costsTheSame({ price: a }: ListedOffer, { price: b }: ListedOffer): boolean {
  if (a === undefined || b === undefined) return a === b
  return Math.abs(a - b) <= sameShare * Math.max(a, b)
}
