import { duration } from '../../../electron/contract/format/time.ts'
import { runningSince, spentBy } from '../../../electron/contract/reading.ts'
import { type Row, rowPrice, rowState } from './rows.ts'

/** The load is none: rows that change places with every poll are rows that are missed by a click. */
export type RowColumn = 'state' | 'name' | 'gpu' | 'price' | 'uptime' | 'spent'

interface Column {
  column: RowColumn
  title: string
  /** A figure stands right, and is sorted the largest first. */
  figure?: true
  /** What it is sorted by; `now` in epoch seconds of the account's time. */
  order(row: Row, now: number): string | number | undefined
  /** What it shows, where that is text alone: the row has such columns between the price and what was spent. */
  text?(row: Row, now: number): string | undefined
}

/** The columns of the instances' table that can be sorted, from left to right. */
export const columns: readonly Column[] = [
  { column: 'state', title: 'State', order: row => rowState(row).word },
  {
    column: 'name',
    title: 'Name',
    order: ({ instance, rental, failover }) =>
      instance ? [instance.label, `#${instance.id}`].filter(Boolean).join(' ') : (rental ?? failover)?.label,
  },
  {
    column: 'gpu',
    title: 'GPU',
    order({ instance, rental, failover }) {
      const offer = rental?.offer ?? failover?.tries.at(-1)?.offer
      const name = instance?.gpu?.name ?? offer?.gpuName
      return name && `${name} ${instance?.gpu?.count ?? offer?.gpuCount ?? 1}`
    },
  },
  { column: 'price', title: 'Price', figure: true, order: row => rowPrice(row).micros },
  {
    column: 'uptime',
    title: 'Uptime',
    figure: true,
    order: uptime,
    text(row, now) {
      const seconds = uptime(row, now)
      return seconds === undefined ? undefined : duration(seconds)
    },
  },
  {
    column: 'spent',
    title: 'Spent',
    figure: true,
    order: ({ instance }, now) => instance && spentBy(instance, now),
  },
]

function uptime({ instance }: Row, now: number): number | undefined {
  const since = instance && runningSince(instance)
  return since === undefined ? undefined : now - since
}
