import type { InstanceView } from '#contract/instance/instance.ts'
import { withValues } from '#contract/market/filter.ts'
import type { SavedQuery } from '#contract/market/offer.ts'
import type { OpenRequest } from '#contract/market/rental.ts'
import type { Instance } from '#service/instances.ts'
import type { Rental } from './model.ts'

/** The machine to replace, and how it was found. */
export interface Replaced {
  /** The request for the new one. */
  request: OpenRequest
  /** The rental of the old one; absent if Berth did not rent it. */
  rental?: Pick<Rental, 'offer' | 'search'>
  gpu?: InstanceView['gpu']
  /** The service's record. */
  record?: Pick<Instance, 'verification' | 'reliability2'>
}

/** How many offers are considered for one replacement. */
const mostOffers = 1000

/**
 * The search for machines as good as the replaced one: with its filters, the same GPUs with at least their memory, and
 * at least its reliability. Only verified hosts if it was verified, its search asked for that, or nothing is known.
 */
export function asGoodAs({ request, rental, gpu, record }: Replaced): SavedQuery {
  const { offer, search } = rental ?? {}
  const { extra } = search?.query ?? {}
  const verified = offer?.verified ?? isVerified(record) ?? search === undefined
  const { name, count, memory } = gpu ?? gpuOf(offer)
  const filter = search?.filter ?? {}
  return {
    query: {
      type: request.bid === undefined ? 'on-demand' : 'bid',
      verifiedOnly: verified || search?.query.verifiedOnly === true,
      storage: request.disk,
      limit: mostOffers,
      ...(extra ? { extra } : {}),
    },
    filter: withValues(filter, {
      gpus: name === undefined ? filter.gpus : [name],
      countFrom: count ?? filter.countFrom,
      countTo: count ?? filter.countTo,
      memoryFrom: larger(filter.memoryFrom, memory === undefined ? undefined : memory / 1024),
      reliabilityFrom: larger(filter.reliabilityFrom, offer?.reliability ?? record?.reliability2),
    }),
  }
}

function isVerified(record: Replaced['record']): boolean | undefined {
  return record?.verification === undefined ? undefined : record.verification === 'verified'
}

function gpuOf(offer: Rental['offer'] | undefined): {
  name?: string
  count?: number
  memory?: number
} {
  if (offer?.gpuName === undefined) return {}
  return { name: offer.gpuName, count: offer.gpuCount ?? 1, memory: offer.gpuMemory }
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.max(one, other)
}
