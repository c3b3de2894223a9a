import * as v from 'valibot'
import { AttemptSeriesId } from '#contract/automation/attempts.ts'
import { AccountId, RentalId } from '#contract/ids.ts'
import { SavedQuery } from '#contract/market/offer.ts'
import { RentRequest } from '#contract/market/rental.ts'
import { micros } from '#contract/spending/money.ts'
import { StoredProblem } from '#core/app/problems.ts'
import type { Rented } from '#core/instances/instance-view.ts'
import type { Instance } from '#service/instance-record.ts'

/** The stored part of the rented offer. Micro-dollars per hour, MB per GPU, reliability from 0 to 1. */
export const StoredOffer = v.object({
  id: v.number(),
  gpuName: v.optional(v.string()),
  gpuCount: v.optional(v.number()),
  gpuMemory: v.optional(v.number()),
  pricePerHour: v.optional(v.number()),
  location: v.optional(v.string()),
  machineId: v.optional(v.number()),
  hostId: v.optional(v.number()),
  verified: v.optional(v.boolean()),
  reliability: v.optional(v.number()),
})

/** A rental as stored. Secret values of its environment are not in it: they are in the keychain, under its id. */
export const Rental = v.object({
  id: RentalId,
  account: AccountId,
  request: RentRequest,
  offer: StoredOffer,
  /** The search that found the offer. */
  search: v.optional(SavedQuery),
  /**
   * asking: stored, and the request may have been sent. lost: its answer was lost, and the account is polled. unclear:
   * more than one instance may be its own. waiting: created, not running yet. late: still not running after its
   * deadline. The others have ended.
   */
  step: v.picklist(['asking', 'lost', 'unclear', 'waiting', 'late', 'running', 'failed', 'cancelled']),
  /** Instances that existed before the request: none of them is this rental's. */
  before: v.array(v.number()),
  /** How often the service was asked to create it. */
  asked: v.number(),
  /** The key was refused at the first request, without a creation, so there is a second one. */
  refused: v.optional(v.boolean()),
  instance: v.optional(v.number()),
  /** The service rented it without starting it: it is stopped, or waits for a GPU. */
  queued: v.optional(v.boolean()),
  /** Epoch seconds of the account's time. */
  startedAt: v.number(),
  /** When it was created; the deadline counts from here. */
  createdAt: v.optional(v.number()),
  /** Seconds. */
  deadline: v.number(),
  candidates: v.optional(v.array(v.number())),
  problem: v.optional(StoredProblem),
  /** The series of attempts that it belongs to, which decides about it. */
  owner: v.optional(AttemptSeriesId),
  /** It is no longer wanted: what it creates is destroyed. */
  unwanted: v.optional(v.boolean()),
  /** The user has seen its end. */
  dismissed: v.optional(v.boolean()),
})
export type Rental = v.InferOutput<typeof Rental>

/** Whether the rental has not ended. */
export function isUnderWay({ step }: Rental): boolean {
  return step === 'asking' || step === 'lost' || step === 'unclear' || step === 'waiting' || step === 'late'
}

/**
 * The variables that an instance was rented with. The service shows all of them, those of a template and secret ones
 * included, and Berth keeps those of its own rental that are not secret.
 */
export function rentedWith(
  rental: Rental | undefined,
  record: Pick<Instance, 'extra_env'> | undefined,
): Record<string, string> {
  const own = (rental?.request.env ?? []).filter(({ secret }) => !secret)
  const pairs = [...own.map(({ name, value }) => [name, value] as const), ...(record?.extra_env ?? [])]
  // A port is in the environment, too, with `-p 8080:8080` for a name.
  return Object.fromEntries(pairs.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)))
}

/** What the rental tells of its instance: traffic expected, price or bid agreed to, when, and whether it waits. */
export function toldBy({ request: { traffic, bid }, offer, queued, createdAt, startedAt }: Rental): Rented {
  const pricePerHour = bid === undefined ? offer.pricePerHour : micros(bid)
  return { traffic, pricePerHour, since: startedAt, queuedAt: queued ? createdAt : undefined }
}
