import * as v from 'valibot'
import { AlertKinds } from './alert-kinds.ts'
import { name } from './fields.ts'
import type { Problem } from './problem.ts'
import { Settings } from './settings.ts'

export const relayKinds = ['ntfy', 'slack', 'discord', 'teams', 'webhook'] as const
export type RelayKind = (typeof relayKinds)[number]

export const relayWords: Readonly<Record<RelayKind, string>> = {
  ntfy: 'ntfy',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  webhook: 'Webhook',
}

/**
 * The kinds to which an instance may send, since a leaked address can only send there. One of Discord also changes and
 * deletes what was sent.
 */
export const instanceRelayKinds: readonly RelayKind[] = ['ntfy', 'slack', 'teams', 'webhook']

/** What the user chose for an address that alerts are also sent to. The address itself is in the keychain. */
export const RelayForm = v.object({
  kind: v.picklist(relayKinds),
  name,
  alerts: v.pipe(v.array(AlertKinds), v.nonEmpty('choose at least one kind of alert')),
  /** Alerts wait until they end, but for critical ones if chosen. */
  quietHours: Settings.entries.quietHours,
  /** Berth sends nothing there: instances do, when their watchdog acts. */
  fromInstances: v.optional(v.boolean()),
})
export type RelayForm = v.InferOutput<typeof RelayForm>

export const RelayId = v.pipe(v.string(), v.regex(/^w[0-9a-f]{16}$/, 'not an address for alerts'))

/** A relay as the page sees it: without its address. Times in epoch milliseconds on this machine. */
export interface RelayView extends RelayForm {
  id: string
  /** Alerts that are not sent yet. */
  waiting: number
  /** The last attempt failed; `again`: when the next one follows, absent once it was given up. */
  failure?: { at: number; problem: Problem; again?: number | undefined } | undefined
  /** When a message was last accepted. */
  sentAt?: number | undefined
}
