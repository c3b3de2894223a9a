import { unitPrice } from '../format/money.ts'
import { figure } from '../format/size.ts'
import type { InstanceView } from '../instance/instance.ts'
import { type Micros, micros } from './money.ts'

/** Higher prices that the host of an instance asks for, from the end of its contract on. */
export interface PriceIncreaseView {
  /** Of the question: another one about the same instance has another. */
  id: number
  instance: number
  /** Dollars per GPU and hour. A price that is absent stays as it is. */
  gpu?: PriceChange
  /** Dollars per GB and month of 720 hours. */
  disk?: PriceChange
  /** Dollars per GB. */
  upload?: PriceChange
  download?: PriceChange
  /** What the service adds, 0 to 1. */
  fee?: PriceChange
  /** Epoch seconds of the account's time: when the contract ends, until which the old prices hold. */
  from?: number
  /** Until when the contract goes on at the new prices. */
  until?: number
  /** The user has consented. */
  accepted?: true
}

export interface PriceChange {
  before?: number
  after: number
}

const hoursInMonth = 720

/**
 * What a running hour of the instance costs, disk included: now, and at the new prices. Undefined where that does not
 * follow from what is told; an interruptible one is charged its bid.
 */
export function increasedRate(
  { gpu, disk }: PriceIncreaseView,
  instance: InstanceView | undefined,
): { before: Micros; after: Micros } | undefined {
  const before = instance?.pricePerHour
  if (before === undefined || instance?.interruptible) return undefined
  const parts = [
    { change: gpu, count: instance?.gpu?.count },
    {
      change: disk,
      count: instance?.disk?.size === undefined ? undefined : instance.disk.size / hoursInMonth,
    },
  ].filter(({ change }) => change !== undefined)
  let more = 0
  for (const { change, count } of parts) {
    if (change?.before === undefined || count === undefined) return undefined
    more += (change.after - change.before) * count
  }
  return parts.length === 0 ? undefined : { before, after: before + micros(more) }
}

/** Each price that changes: `GPU $0.300 → $0.450 per GPU and hour`. */
export function priceChanges({ gpu, disk, upload, download, fee }: PriceIncreaseView): string[] {
  const each: [string, PriceChange | undefined, (value: number) => string, string][] = [
    ['GPU', gpu, unitPrice, ' per GPU and hour'],
    ['Disk', disk, unitPrice, ' per GB and month'],
    ['Upload', upload, unitPrice, ' per GB'],
    ['Download', download, unitPrice, ' per GB'],
    ['Platform fee', fee, share => `${figure(share * 100, 1)} %`, ''],
  ]
  return each.flatMap(([what, change, written, unit]) => {
    if (!change) return []
    const before = change.before === undefined ? '' : `${written(change.before)} → `
    return [`${what} ${before}${written(change.after)}${unit}`]
  })
}
