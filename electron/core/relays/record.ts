import * as v from 'valibot'
import { AlertKinds } from '#shared/alert-kinds.ts'
import { RelayForm, RelayId, type RelayView } from '#shared/relay.ts'
import { StoredProblem } from '../bridge/problems.ts'

/** An alert on its way, with its secrets masked. */
const Told = v.object({
  kind: AlertKinds,
  title: v.string(),
  body: v.string(),
  critical: v.boolean(),
  /** Epoch milliseconds on this machine. */
  at: v.number(),
})
export type Told = v.InferOutput<typeof Told>

/** A message, the same for each kind of receiver. */
export interface Message {
  /** The same whenever it is sent again. */
  id: string
  title: string
  text: string
  critical: boolean
  alerts: readonly Told[]
}

/** A message that is being sent: its alerts stay the same under its id. */
const Sending = v.object({
  id: v.string(),
  alerts: v.array(Told),
  /** How many attempts failed or were cut off, when the last one began, and the milliseconds to wait after it. */
  tries: v.number(),
  triedAt: v.number(),
  wait: v.number(),
})

/** An address that alerts are also sent to, as stored: without the address. */
export const Relay = v.object({
  ...RelayForm.entries,
  id: RelayId,
  /** Told and in no message yet, the oldest first. */
  waiting: v.array(Told),
  sending: v.optional(Sending),
  failure: v.optional(v.object({ at: v.number(), problem: StoredProblem })),
  sentAt: v.optional(v.number()),
})
export type Relay = v.InferOutput<typeof Relay>

/** Waiting alerts that are kept at most, since an address may be out of order for days; the oldest are dropped. */
const mostWaiting = 500

export function withTold(relay: Relay, told: readonly Told[]): Relay {
  return { ...relay, waiting: [...relay.waiting, ...told].slice(-mostWaiting) }
}

export function relayView({ waiting, sending, failure, ...relay }: Relay): RelayView {
  const again = sending && failure ? sending.triedAt + sending.wait : undefined
  return {
    ...relay,
    waiting: waiting.length + (sending?.alerts.length ?? 0),
    failure: failure && { ...failure, again },
  }
}
