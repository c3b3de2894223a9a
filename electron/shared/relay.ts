import * as v from 'valibot'
import { name } from './fields.ts'
import type { Problem } from './problem.ts'
import { Settings } from './settings.ts'

export type AlertKind = keyof Settings['alerts']

/** The kinds of alerts: a name, and when one comes. */
export const alertKinds: Readonly<Record<AlertKind, { label: string; hint: string }>> = {
  lowCredit: { label: 'Low credit', hint: 'Once each time it falls below.' },
  outbid: { label: 'Outbid', hint: 'Someone bids more, and the instance stops.' },
  ready: { label: 'Ready', hint: 'A machine you rented is running.' },
  halted: {
    label: 'Stopped or waiting',
    hint: 'A start is waiting for its GPU, or the service stopped an instance: no credit, or its contract ended.',
  },
  crashed: { label: 'Crashed', hint: 'The container exited, or can’t start.' },
  hostGone: {
    label: 'Host gone',
    hint: 'The machine is offline or silent, or an instance is no longer on the account.',
  },
  contractEnd: { label: 'Contract ends', hint: 'An instance’s contract ends within 24 hours.' },
  maintenance: { label: 'Maintenance', hint: 'A host announces work on an instance’s machine.' },
  priceIncrease: { label: 'Price increase', hint: 'A host asks for higher prices.' },
  diskFull: { label: 'Disk nearly full', hint: 'An instance uses 90% of its disk.' },
  attempts: {
    label: 'Renting with retries',
    hint: 'Berth dropped a host and tried the next, or none is left.',
  },
  recovery: {
    label: 'Recovery',
    hint: 'After you were outbid, Berth raised the bid or rented elsewhere.',
  },
  limit: { label: 'Limits', hint: 'A limit is about to act, has acted, or could not.' },
  run: { label: 'Runs', hint: 'A command has ended, or seems stuck.' },
  watch: { label: 'Watches', hint: 'A new offer matches a watched search.' },
}

export const AlertKinds = v.picklist(Object.keys(alertKinds) as AlertKind[])

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
