import * as v from 'valibot'
import { type WatchView, WatchWish } from '../../../../electron/contract/automation/watch.ts'
import type { ListedOffer } from '../../../../electron/contract/market/catalogue.ts'
import type { OpenRequest } from '../../../../electron/contract/market/rental.ts'
import { type Micros, micros } from '../../../../electron/contract/spending/money.ts'
import { typedNumber } from '../../../components/fields/numbers.ts'

/** The watch dialog as typed. */
export interface WatchDraft {
  name: string
  /** Minutes. */
  every: string
  /** Whether it rents by itself, and then what and how far. */
  rents: boolean
  image: string
  access: OpenRequest['access']
  /** Dollars per hour: the highest price, or the highest bid. */
  price: string
  machines: string
  /** Hosts tried for one machine, and dollars that those tries may cost. */
  tries: string
  ceiling: string
}

export type WatchErrors = Partial<Record<keyof WatchDraft, string>>

/** What a watch is at first, with a name and what is usually rented, or as it is now. */
export function draftOf(
  name: string,
  { filter }: WatchWish['search'],
  usual: Pick<WatchDraft, 'image' | 'access'>,
  watch: WatchView | undefined,
): WatchDraft {
  const { request, limits, most } = watch?.rents ?? {}
  const figure = (value: number | undefined, otherwise: string) =>
    value === undefined ? otherwise : String(value)
  return {
    name: watch?.name ?? name,
    every: figure(watch?.every, '5'),
    rents: watch?.rents !== undefined,
    image: request?.image ?? usual.image,
    access: request?.access ?? usual.access,
    price: figure(request?.bid ?? limits?.price ?? filter.priceTo, ''),
    machines: figure(most, '1'),
    tries: figure(limits?.tries, '3'),
    ceiling: figure(limits?.ceiling, '1'),
  }
}

/** Of the offers shown, how many the watch would rent at these limits now, and the cheapest of those prices. */
export function wouldRent(
  offers: readonly ListedOffer[],
  draft: Pick<WatchDraft, 'price'>,
  interruptible: boolean,
): { many: number; from?: Micros } {
  const limit = typedNumber(draft.price)
  if (limit === undefined) return { many: 0 }
  const prices = offers.flatMap(({ price, offer }) => {
    const asked = interruptible ? (offer.minimumBid ?? price) : price
    return asked !== undefined && asked <= micros(limit) ? [asked] : []
  })
  return prices.length === 0 ? { many: 0 } : { many: prices.length, from: Math.min(...prices) }
}

/** The wish that a draft makes, or what is wrong with it, field by field. `deadline`: seconds that one try may take. What the dialog does not ask stays as it was. */
export function readWatch(
  draft: WatchDraft,
  search: WatchWish['search'],
  before: WatchView | undefined,
  deadline: number,
): { wish: WatchWish } | { errors: WatchErrors } {
  const number = (text: string) => typedNumber(text) ?? Number.NaN
  const interruptible = search.query.type === 'bid'
  const price = number(draft.price)
  const { bid: _, ...known } = before?.rents?.request ?? { env: [], ports: [] }
  const rents = {
    request: {
      ...known,
      image: draft.image,
      access: draft.access,
      disk: search.query.storage,
      ...(interruptible ? { bid: price } : {}),
    },
    limits: {
      tries: number(draft.tries),
      ceiling: number(draft.ceiling),
      deadline: before?.rents?.limits.deadline ?? deadline,
      ...(interruptible ? {} : { price }),
    },
    most: number(draft.machines),
  }
  const result = v.safeParse(WatchWish, {
    name: draft.name,
    search,
    every: number(draft.every),
    ...(draft.rents ? { rents } : {}),
  })
  if (result.success) return { wish: result.output }
  const errors: WatchErrors = {}
  for (const issue of result.issues) {
    const field = fields[v.getDotPath(issue) ?? '']
    if (field) errors[field] ??= `${issue.message.charAt(0).toUpperCase()}${issue.message.slice(1)}.`
  }
  return { errors }
}

const fields: Record<string, keyof WatchDraft> = {
  name: 'name',
  every: 'every',
  'rents.request.image': 'image',
  'rents.request.bid': 'price',
  'rents.limits.price': 'price',
  'rents.limits.tries': 'tries',
  'rents.limits.ceiling': 'ceiling',
  'rents.most': 'machines',
}
