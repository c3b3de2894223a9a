import * as v from 'valibot'
import type { AccountContext } from '#core/account-context.ts'
import { StoredProblem } from '#core/bridge/problems.ts'
import type { Rented } from '#core/instances/instance-view.ts'
import { type AgreedPrices, believable, monthHours } from '#core/instances/spending.ts'
import { type Collection, openCollection, type Rescue } from '#core/storage/collection.ts'
import type { Instance } from '#service/instance-record.ts'
import { type Limit, leastDollars, lessSpent } from '#shared/automation/limit.ts'
import { WatchdogRequest } from '#shared/automation/watchdog.ts'
import { grownFrom } from '#shared/derived.ts'
import { AccountId, InstanceId, OfferId, RentalId } from '#shared/ids.ts'
import { OpenRequest, RentalSearch, type RentRequest } from '#shared/market/rent-request.ts'
import { RetryLimits } from '#shared/market/rental-bounds.ts'
import { BerthError } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { StoredSpender } from '#shared/spending/spender.ts'
import type { AccountView } from '#shared/state.ts'

/** The stored part of the rented offer. Micro-dollars per hour, MB per GPU, reliability from 0 to 1. */
export const StoredOffer = v.object({
  id: v.number(),
  gpuName: v.optional(v.string()),
  gpuCount: v.optional(v.number()),
  gpuMemory: v.optional(v.number()),
  pricePerHour: v.optional(v.number()),
  /** Micro-dollars per hour of that for the disk in its search, and dollars per GB of disk and month. */
  storagePrice: v.optional(v.number()),
  storageCost: v.optional(v.number()),
  location: v.optional(v.string()),
  machineId: v.optional(v.number()),
  hostId: v.optional(v.number()),
  verified: v.optional(v.boolean()),
  reliability: v.optional(v.number()),
  /** For a new volume on its machine. */
  volumeOffer: v.optional(v.number()),
})

/** Why a try is dropped. */
export const Abandonment = v.object({
  why: StoredProblem,
  /** Epoch seconds of the account's time. */
  at: v.number(),
  /** Whether its machine counts as failed. */
  blame: v.boolean(),
  /** Whether no other try follows. */
  last: v.boolean(),
})
export type Abandonment = v.InferOutput<typeof Abandonment>

/** One request to create an instance, which never creates two. Times in epoch seconds of the account's time. */
export const Attempt = v.object({
  /** The instance carries it in its label and its environment. Without retries it is the rental's id. */
  mark: RentalId,
  offer: StoredOffer,
  /** Dollars per hour, where it is not the request's. */
  bid: v.optional(v.number()),
  /**
   * asking: stored, and the request may have been sent. lost: its answer was lost, and the account is polled. unclear:
   * more than one instance may be its own. waiting: created, not running yet. late: still not running after its
   * deadline. The others have ended.
   */
  step: v.picklist(['asking', 'lost', 'unclear', 'waiting', 'late', 'running', 'failed', 'cancelled']),
  /** Instances that existed before the request: none of them is its own. */
  before: v.array(v.number()),
  /** How often the service was asked to create it. */
  requestCount: v.number(),
  /** The key was refused at the first request, without a creation, so there is a second one. */
  refused: v.optional(v.boolean()),
  /** As the service named it, until `seen`: a list has shown its mark, or that it shows none at all. */
  instance: v.optional(InstanceId),
  seen: v.optional(v.boolean()),
  /** The service rented it without starting it: it is stopped, or waits for a GPU. */
  queued: v.optional(v.boolean()),
  startedAt: v.number(),
  /** When the service was asked last: limits count from here, however late its instance is found. */
  askedAt: v.optional(v.number()),
  /** When it was created; the deadline counts from here. */
  createdAt: v.optional(v.number()),
  /** Seconds. */
  deadline: v.number(),
  candidates: v.optional(v.array(v.number())),
  problem: v.optional(StoredProblem),
  /** No longer wanted: its instance is destroyed. */
  unwanted: v.optional(v.boolean()),
  /** What the watchdog goes by that its start script was asked for with. */
  brought: v.optional(WatchdogRequest),
  /** When it was first seen running. */
  runningAt: v.optional(v.number()),
  /** Stored before its instance is destroyed. */
  drop: v.optional(Abandonment),
  /** Its cost at its last view: `micros` at `at`, growing by `perHour`. */
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
  /** Dropped with a volume that was made for it and that may still be there. */
  volumeLeft: v.optional(v.boolean()),
  /** Its final cost, once it was dropped and its instance is gone. */
  cost: v.optional(v.number()),
  endedAt: v.optional(v.number()),
})
export type Attempt = v.InferOutput<typeof Attempt>

/**
 * A rental as stored: the request for a machine, and the offers that were tried for it. Without `retries` it tries one
 * offer, and its user decides about it. Secret values are not in it: they are in the keychain, under its id.
 */
export const Rental = v.object({
  id: RentalId,
  account: AccountId,
  request: OpenRequest,
  /** The search that found the offer or, with retries, finds the next one. */
  search: v.optional(v.partial(RentalSearch, ['order'])),
  retries: v.optional(RetryLimits),
  /** With retries, the offer to try first, while it fits. */
  first: v.optional(OfferId),
  /** Who wants it: the user, a watch, a project's run, or a recovery in the place of `replaces`. */
  why: v.picklist(['user', 'watch', 'run', 'replacement']),
  replaces: v.optional(InstanceId),
  /** The agent, script or project that pays; absent for the user. */
  by: v.optional(StoredSpender),
  /** A command line has rented it: its limits are no model for the page's next rental. */
  byCommand: v.optional(v.literal(true)),
  /** Of a project's run: the sweep or the run on several machines, whose machines are rented for one purpose. */
  group: v.optional(v.string()),
  step: v.picklist(['trying', 'ready', 'failed', 'cancelled']),
  /** Oldest first. */
  attempts: v.array(Attempt),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  /** It was cancelled: the present try is undone, and no other follows. */
  unwanted: v.optional(v.boolean()),
  /** Cancelled by its recovery, or the user's cancelling was handled: no sign of what the user wants next. */
  needless: v.optional(v.boolean()),
  /** The instance that is ready, or that is kept although the rental failed. */
  instance: v.optional(InstanceId),
  problem: v.optional(StoredProblem),
  /** The user has seen its end. */
  dismissed: v.optional(v.boolean()),
})
export type Rental = v.InferOutput<typeof Rental>

/** A rental that tries one offer after another, until its instance can be used. */
export type Retrying = Rental & Required<Pick<Rental, 'search' | 'retries'>>

/** The request for a rental with retries. */
export type RetryRequest = Pick<Retrying, 'request' | 'search' | 'retries'> &
  Pick<Rental, 'first' | 'why' | 'replaces' | 'group' | 'by'>

/** A try with the rental that it belongs to. */
export type RentalAttempt = Attempt & { rental: Rental }

/** Whether an attempt's machine comes with a volume that is made for it. */
export function makesVolume(request: Rental['request'], { offer }: Pick<Attempt, 'offer'>): boolean {
  return request.volume?.create === true && offer.machineId !== undefined
}

export function isRetrying(rental: Rental): rental is Retrying {
  return rental.retries !== undefined && rental.search !== undefined
}

/** Whether a try has not ended. */
export function isUnderWay({ step }: Pick<Attempt, 'step'>): boolean {
  return step === 'asking' || step === 'lost' || step === 'unclear' || step === 'waiting' || step === 'late'
}

/** Whether an attempt's instance is certain: it was seen, as those that ran were. */
export function isProven({ instance, seen, runningAt, step }: Attempt): boolean {
  return instance !== undefined && (seen === true || runningAt !== undefined || step === 'running')
}

/** The present try, whose final cost is not known yet. */
export function openAttempt({ attempts }: Pick<Rental, 'attempts'>): Attempt | undefined {
  return attempts.find(({ cost }) => cost === undefined)
}

/** The rental with changes to one try. Without retries, its step is the try's. */
export function withAttempt(rental: Rental, mark: string, change: Partial<Attempt>): Rental {
  const attempts = rental.attempts.map(one => (one.mark === mark ? { ...one, ...change } : one))
  const only = attempts[0]
  if (isRetrying(rental) || !only) return { ...rental, attempts }
  const { step, instance, problem } = only
  const endStep = step === 'running' ? 'ready' : step
  return {
    ...rental,
    attempts,
    instance,
    problem,
    step: isUnderWay(only) ? 'trying' : (endStep as Rental['step']),
  }
}

/** The request of one try, without secret values. */
export function requestOf({
  rental,
  offer,
  bid,
}: Pick<RentalAttempt, 'rental' | 'offer' | 'bid'>): RentRequest {
  const { volume } = rental.request
  const created = volume?.create && { volume: { ...volume, volume: volume.volume ?? offer.volumeOffer } }
  return { ...rental.request, offer: offer.id, ...(bid === undefined ? {} : { bid }), ...created }
}

/** The cost of all finished tries. */
export function spentOn({ attempts }: Pick<Rental, 'attempts'>): Micros {
  return attempts.reduce((sum, { cost }) => sum + (cost ?? 0), 0)
}

/** The limits of its next machine: a run's dollars include its failed attempts. */
export function limitsLeftOf(rental: Rental): readonly Limit[] {
  const { limits = [] } = rental.request
  return rental.why === 'run' ? lessSpent(limits, spentOn(rental)) : limits
}

/**
 * The limits of a try's instance, with what is left of a cost. Outside runs, whose plan says what they cost in all, one on the
 * time also holds what that time costs at the highest price that was agreed to, unless a sum was shown for it.
 */
export function limitsOfAttempt(attempt: RentalAttempt): readonly Limit[] {
  const { rental } = attempt
  const limits = limitsLeftOf(rental)
  const { running, disk = 0 } = rentedAs(attempt).agreed ?? {}
  if (rental.why === 'run' || running === undefined) return limits
  const { recovery } = requestOf(attempt)
  const bid = recovery && recovery.kind !== 'tell' ? micros(recovery.ceiling) : 0
  const perHour = Math.max(running, bid + disk) / 1_000_000
  return limits.map(limit => {
    const { when, most } = limit
    if (when.kind !== 'duration' || most) return limit
    return { ...limit, most: { dollars: Math.max(leastDollars, (perHour * when.seconds) / 3600) } }
  })
}

/** A try's cost up to a moment of the account's time; 0 without an instance. */
export function costOfAttempt({ spent }: Pick<Attempt, 'spent'>, at: number): Micros {
  if (!spent) return 0
  return spent.micros + grownFrom(spent, at)
}

/**
 * The variables that an instance was rented with. The service shows all of them, those of a template and secret ones
 * included, and Berth keeps those of its own rental that are not secret.
 */
export function rentedWith(
  rental: Pick<Rental, 'request'> | undefined,
  record: Pick<Instance, 'extra_env'> | undefined,
): Record<string, string> {
  const own = (rental?.request.env ?? []).filter(({ secret }) => !secret)
  const pairs = [...own.map(({ name, value }) => [name, value] as const), ...(record?.extra_env ?? [])]
  // A port is in the environment, too, with `-p 8080:8080` for a name.
  return Object.fromEntries(pairs.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)))
}

/** A rental's data about its instance: traffic expected, price or bid agreed to, when, and whether it waits. */
export function rentedAs(attempt: RentalAttempt): Rented {
  const { offer, queued, createdAt, startedAt } = attempt
  const { traffic, bid, disk } = requestOf(attempt)
  const agreed = agreedFor(offer, disk, bid)
  const { mark } = attempt
  return { mark, traffic, agreed, since: startedAt, queuedAt: queued ? createdAt : undefined }
}

/** The prices of an offer with that many GB of disk; a bid is for the GPUs alone. */
function agreedFor(
  { pricePerHour, storagePrice, storageCost }: Attempt['offer'],
  gb: number,
  bid: number | undefined,
): AgreedPrices {
  const disk = storageCost === undefined ? undefined : believable((storageCost * gb) / monthHours)
  if (bid !== undefined) return { running: micros(bid) + (disk ?? 0), disk }
  if (pricePerHour === undefined || storagePrice === undefined || disk === undefined)
    return { running: pricePerHour, disk }
  return { running: Math.max(0, pricePerHour - storagePrice) + disk, disk }
}

/** The tries of all rentals of one account, by their marks. */
export interface Attempts {
  /** Oldest first. */
  all(): readonly RentalAttempt[]
  find(mark: string): RentalAttempt | undefined
  /** Throws `no_such_rental`. */
  get(mark: string): RentalAttempt
  /** A change that must be on disk before an action. Rejects with `not_written`, and then nothing has changed. */
  intend(mark: string, change: Partial<Attempt>): Promise<void>
  /** Records something that happened; a failed write does not reject. */
  update(mark: string, change: Partial<Attempt>): Promise<void>
}

/** The rentals of one account, as stored and as shown in State. */
export interface StoredRentals extends Collection<Rental, string> {
  readonly attempts: Attempts
}

/** Parts of a rental without which it cannot rent as the user agreed. */
const vital =
  /^(?:request|search|retries|first|why|replaces|step|tries(?:\.\d+)?(?:\.(?:mark|bid|step|requestCount))?$)/

/** What is left of a rental that cannot be read: if it is under way, it is cancelled with what it has created. */
function rescueRental({ account, now }: Pick<AccountContext, 'account' | 'now'>): Rescue<Rental> {
  const at = now()
  return {
    instead: {
      account,
      request: { image: 'unreadable', access: 'ssh', disk: 1, env: [], ports: [] },
      why: 'user',
      step: 'trying',
      attempts: [],
      startedAt: at,
      'tries.*.offer': { id: 0 },
      'tries.*.step': 'lost',
      'tries.*.before': [],
      'tries.*.requestCount': 1,
      'tries.*.startedAt': at,
      'tries.*.deadline': 600,
    },
    keep(rental, lacking) {
      if (rental.step !== 'trying' || !lacking.some(part => vital.test(part))) return rental
      const attempts = rental.attempts.map(one => (isUnderWay(one) ? { ...one, unwanted: true } : one))
      return { ...rental, attempts, unwanted: true }
    },
  }
}

/** The number of ended rentals that are stored, for renting again. */
const mostEnded = 200

const missing = { code: 'no_such_rental', message: 'That rental is no longer on the list.' }

export async function openStoredRentals(
  context: AccountContext,
  view?: (rentals: readonly Rental[]) => Partial<AccountView>,
): Promise<StoredRentals> {
  const rentals = await openCollection(context, {
    name: 'rentals',
    schema: Rental,
    rescue: rescueRental(context),
    key: ({ id }) => id,
    missing,
    prune: { isOver: ({ step }) => step !== 'trying', most: mostEnded },
    view,
  })
  const all = () => rentals.all().flatMap(rental => rental.attempts.map(one => ({ ...one, rental })))
  const find = (mark: string) => all().find(one => one.mark === mark)
  function get(mark: string): RentalAttempt {
    const attempt = find(mark)
    if (!attempt) throw new BerthError(missing)
    return attempt
  }
  return {
    ...rentals,
    attempts: {
      all,
      find,
      get,
      intend: (mark, change) =>
        rentals.intend(get(mark).rental.id, rental => withAttempt(rental, mark, change)),
      async update(mark, change) {
        const id = find(mark)?.rental.id
        if (id !== undefined) await rentals.update(id, rental => withAttempt(rental, mark, change))
      },
    },
  }
}

/** Ids of the instances in the account's last answer. */
export function knownInstances({ account, store }: AccountContext): number[] {
  return Object.keys(store.get().accounts[account]?.instances ?? {}).map(Number)
}
