import { epochSeconds } from './clock.ts'

/** An instance's cost while nothing about it changes, in whole micro-dollars per hour. */
export interface Rates {
  gpu: number
  disk: number
  /** Traffic per hour, where the deployment charges for it. */
  upload?: number
  download?: number
}

/** One charge: a stretch of time at one rate. Times in epoch seconds. */
export interface Charge {
  instance_id: number
  kind: Kind
  from: number
  to: number
  micro_dollars_per_hour: number
  micro_dollars: number
}

/** What an instance has cost so far, in whole micro-dollars. */
export interface Total {
  instance_id: number
  gpu_micro_dollars: number
  disk_micro_dollars: number
  /** Absent without any. */
  traffic_micro_dollars?: number
  micro_dollars: number
}

interface Stretch {
  from: number
  to: number
  rates: Rates
}

interface Page {
  closed: Stretch[]
  done: Record<Kind, bigint>
  open: { from: number; rates: Rates } | null
}

const MILLISECONDS_PER_HOUR = 3_600_000n
const KINDS = ['gpu', 'disk', 'upload', 'download'] as const

/** The kinds of charges. */
export type Kind = (typeof KINDS)[number]

/**
 * The account's ledger. Per instance and kind it sums rate × milliseconds as exact integers and rounds down to whole
 * micro-dollars once, so that no charge is lost or added however often it is read.
 */
export class Ledger {
  readonly #pages = new Map<number, Page>()

  /** From `at` on (world milliseconds) the instance costs `rates`; null ends all its charges. */
  setRates(instanceId: number, at: number, rates: Rates | null): void {
    const page = this.#page(instanceId)
    if (page.open) {
      const { from, rates: before } = page.open
      if (rates && KINDS.every(kind => before[kind] === rates[kind])) return
      if (at > from) {
        page.closed.push({ from, to: at, rates: before })
        for (const kind of KINDS) page.done[kind] += product(before[kind] ?? 0, at - from)
      }
    }
    page.open = rates && { from: at, rates }
  }

  /** Every instance's total at `now`, destroyed ones included. */
  totals(now: number): Total[] {
    return [...this.#pages].map(([instanceId, page]) => {
      const amount = (kind: Kind) => Number(spent(page, kind, now) / MILLISECONDS_PER_HOUR)
      const gpu = amount('gpu')
      const disk = amount('disk')
      const traffic = amount('upload') + amount('download')
      return {
        instance_id: instanceId,
        gpu_micro_dollars: gpu,
        disk_micro_dollars: disk,
        ...(traffic > 0 ? { traffic_micro_dollars: traffic } : {}),
        micro_dollars: gpu + disk + traffic,
      }
    })
  }

  /** An instance's amount of a kind up to `now`, in the unit of its rates. */
  amount(instanceId: number, kind: Kind, now: number): number {
    const page = this.#pages.get(instanceId)
    return page ? Number(spent(page, kind, now) / MILLISECONDS_PER_HOUR) : 0
  }

  /** All charges so far in micro-dollars. */
  total(now: number): number {
    return this.totals(now).reduce((sum, total) => sum + total.micro_dollars, 0)
  }

  /** Every charge, by instance and then by time; those of one instance and kind add up to its total. */
  charges(now: number): Charge[] {
    return [...this.#pages].flatMap(([instanceId, page]) =>
      KINDS.flatMap(kind => chargesOf(instanceId, page, kind, now)),
    )
  }

  #page(instanceId: number): Page {
    let page = this.#pages.get(instanceId)
    if (!page) {
      page = { closed: [], done: { gpu: 0n, disk: 0n, upload: 0n, download: 0n }, open: null }
      this.#pages.set(instanceId, page)
    }
    return page
  }
}

function product(rate: number, milliseconds: number): bigint {
  return BigInt(rate) * BigInt(milliseconds)
}

function spent(page: Page, kind: Kind, now: number): bigint {
  const { open } = page
  return page.done[kind] + (open && now > open.from ? product(open.rates[kind] ?? 0, now - open.from) : 0n)
}

function chargesOf(instanceId: number, page: Page, kind: Kind, now: number): Charge[] {
  const stretches =
    page.open && now > page.open.from ? [...page.closed, { ...page.open, to: now }] : page.closed
  const charges: Charge[] = []
  let sum = 0n
  for (const { from, to, rates } of stretches) {
    const rate = rates[kind] ?? 0
    if (rate === 0) continue
    const before = sum / MILLISECONDS_PER_HOUR
    sum += product(rate, to - from)
    charges.push({
      instance_id: instanceId,
      kind,
      from: epochSeconds(from),
      to: epochSeconds(to),
      micro_dollars_per_hour: rate,
      micro_dollars: Number(sum / MILLISECONDS_PER_HOUR - before),
    })
  }
  return charges
}
