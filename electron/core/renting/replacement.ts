import { replacesVariable } from '#core/instances/mark.ts'
import type { Instance } from '#service/instances.ts'
import type { RecoveryChoice } from '#shared/automation/recovery.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { withValues } from '#shared/market/filter.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import { defaultDisk } from '#shared/market/rental-defaults.ts'
import { withoutParts } from '#shared/market/search-part.ts'
import { BerthError } from '#shared/problem.ts'
import { withoutWatchdog } from '#ssh/watchdog/start-script.ts'
import { type Attempt, type RentalAttempt, type RetryRequest, requestOf } from './rental.ts'

/** The machine to replace, and how it was found. */
export interface Replaced {
  /** The request for the new one. */
  request: OpenRequest
  /** The rental of the old one; absent if Berth did not rent it. */
  rental?: { offer: Attempt['offer']; search?: SavedQuery }
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

function gpuOf(offer: Attempt['offer'] | undefined): {
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

/** The offer that was rented, and the search that found it. */
export function foundBy({ offer, rental }: RentalAttempt): NonNullable<Replaced['rental']> {
  return { offer, search: rental.search }
}

/** The request of an attempt before an offer is chosen for it, and in no instance's place. */
export function requestAgain(attempt: Pick<RentalAttempt, 'rental' | 'offer' | 'bid'>): OpenRequest {
  const { offer: _, env, ...request } = requestOf(attempt)
  return { ...request, env: env.filter(({ name }) => name !== replacesVariable) }
}

/** A request like an instance that Berth did not rent, as far as its record allows. */
export function requestLike(instance: InstanceView, record: Instance | undefined): OpenRequest {
  return {
    image: instance.image ?? '',
    access: instance.jupyter ? 'jupyter' : instance.runtype === 'args' ? 'none' : 'ssh',
    direct: instance.runtype?.endsWith('_proxy') && !/direc/.test(instance.runtype) ? false : undefined,
    disk: instance.disk?.size ?? defaultDisk,
    env: [],
    ports: [],
    label: instance.label || undefined,
    onstart: withoutWatchdog(record?.onstart ?? '') || undefined,
    bid: instance.interruptible && instance.bid !== undefined ? instance.bid / 1_000_000 : undefined,
  }
}

/**
 * The request for a machine as good as the instance's, rented as it was, for a bid up to the choice's ceiling, which
 * replaces the price limit of its search. Throws `no_gpu_known` or `secrets_lost` where it cannot be rented as it was.
 */
export function replacementFor(
  instance: InstanceView,
  attempt: RentalAttempt | undefined,
  record: Instance | undefined,
  { ceiling, limits }: Extract<RecoveryChoice, { kind: 'replace' }>,
): RetryRequest {
  const { gpu } = instance
  if (!gpu)
    throw new BerthError({
      code: 'no_gpu_known',
      message: 'The service doesn’t report this instance’s GPUs, so Berth can’t choose a replacement.',
      advice: 'Raise the bid, or rent another yourself.',
    })
  const known = attempt ? requestAgain(attempt) : requestLike(instance, record)
  if (known.registry) throw secretsLost(`the token of ${known.registry.server}`)
  const env = known.env.map(variable => ({
    ...variable,
    value: variable.secret ? secretOf(variable.name, record) : variable.value,
  }))
  const request = {
    ...known,
    env: [...env, { name: replacesVariable, value: String(instance.id), secret: false }],
    bid: ceiling,
  }
  return {
    why: 'replacement',
    replaces: instance.id,
    request,
    retries: limits,
    search: {
      ...withoutParts(asGoodAs({ request, rental: attempt && foundBy(attempt), gpu, record }), ['price']),
      order: { column: 'price', descending: false },
    },
  }
}

/** Berth deletes secret values once the instance exists, but the service has them in the environment. */
function secretOf(name: string, record: Instance | undefined): string {
  const value = record?.extra_env?.find(([known]) => known === name)?.[1]
  if (value === undefined) throw secretsLost(`the secret ${name}`)
  return value
}

function secretsLost(secret: string): BerthError {
  return new BerthError({
    code: 'secrets_lost',
    message: `It was rented with ${secret}, which Berth doesn’t store and the service doesn’t show.`,
    advice: 'Raise the bid, or rent another yourself.',
  })
}
