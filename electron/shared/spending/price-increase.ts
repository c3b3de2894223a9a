import { unitPrice } from '../format/money.ts'
import { figure } from '../format/size.ts'
import { moment } from '../format/time.ts'
import type { InstanceView } from '../instance/instance.ts'
import { type Micros, micros } from './money.ts'

/** A host's request for higher prices of an instance, from the end of its contract on. */
export interface PriceIncreaseView {
  /** The request's id: another request for the same instance has another. */
  id: number
  instance: number
  /** Dollars per GPU and hour. Absent prices do not change. */
  gpu?: PriceChange
  /** Dollars per GB and month of 720 hours. */
  disk?: PriceChange
  /** Dollars per GB. */
  upload?: PriceChange
  download?: PriceChange
  /** The service's share, 0 to 1. */
  fee?: PriceChange
  /** The contract's end, until which the old prices apply; epoch seconds of the account's time. */
  from?: number
  /** The end of the contract at the new prices. */
  until?: number
  /** The user has accepted. */
  accepted?: true
}

export interface PriceChange {
  before?: number
  after: number
}

/**
 * When an instance's contract ends (epoch seconds of the account's time): with accepted prices it goes on after its present
 * end. Undefined where unknown.
 */
export function contractEndOf(
  { endsAt }: Pick<InstanceView, 'endsAt'>,
  increase: PriceIncreaseView | undefined,
): number | undefined {
  return increase?.accepted ? increase.until : endsAt
}

const hoursInMonth = 720

/**
 * The price of a running hour of the instance, disk included, now and after the increase. Undefined if the request
 * does not say enough, and for an interruptible instance, which is charged its bid.
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
    ['Platform fee', fee, share => `${figure(share * 100, 1)}%`, ''],
  ]
  return each.flatMap(([what, change, written, unit]) => {
    if (!change) return []
    const before = change.before === undefined ? '' : `${written(change.before)} → `
    return [`${what} ${before}${written(change.after)}${unit}`]
  })
}

/** `from Sun 3 May, 14:00 on`, or `once its contract ends`; `now` in epoch seconds of the account's time. */
export function increaseFrom({ from }: Pick<PriceIncreaseView, 'from'>, now: number): string {
  return from === undefined ? 'once its contract ends' : `from ${moment(from, now)}`
}
