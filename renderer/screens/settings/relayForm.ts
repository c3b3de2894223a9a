import { type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { type AlertKind, alertKinds } from '#shared/alert-kinds.ts'
import { timeOfDay } from '#shared/format/time.ts'
import { RelayForm, type RelayKind, type RelayView } from '#shared/relay.ts'
import { defaultSettings } from '#shared/settings.ts'

export const allKinds = Object.keys(alertKinds) as AlertKind[]

/** The typed form of an address for alerts. */
export interface RelayDraft extends RelayForm {
  address: string
}

export function relayDraft(relay: RelayView | undefined): RelayDraft {
  const { kind, name, alerts, quietHours, fromInstances } = relay ?? {
    ...{ kind: 'ntfy' as const, name: '', alerts: allKinds, quietHours: defaultSettings.quietHours },
    fromInstances: undefined,
  }
  return { kind, name, alerts: [...alerts], quietHours: { ...quietHours }, fromInstances, address: '' }
}

/** `isNew`: it has no address yet. */
export function readRelay({ address, ...draft }: RelayDraft, isNew: boolean): ReadForm<RelayForm> {
  const read = readForm(RelayForm, draft)
  const isMissing = isNew && address.trim() === ''
  return isMissing ? { errors: { ...read.errors, address: 'Enter the address.' } } : read
}

/** Where each kind of receiver shows its address. */
export const addressHints: Readonly<Record<RelayKind, string>> = {
  ntfy: 'Like https://ntfy.sh/your-topic. Who knows the topic can read it.',
  slack: 'The URL of an incoming webhook of your Slack app.',
  discord: 'In a channel’s settings, under Integrations › Webhooks.',
  teams: 'The URL of a workflow that posts webhook alerts to a channel.',
  webhook: 'Gets JSON by POST, signed as Standard Webhooks describe.',
}

/** What it gets, and when, in a line. */
export function relayLine({ alerts, quietHours, waiting, fromInstances }: RelayView): string {
  if (fromInstances) return 'From instances, when their watchdog stops or destroys them.'
  const isAll = allKinds.every(kind => alerts.includes(kind))
  const what = isAll
    ? 'All alerts'
    : allKinds
        .filter(kind => alerts.includes(kind))
        .map(kind => alertKinds[kind].label)
        .join(', ')
  const quiet = quietHours.on ? ` Quiet from ${quietHours.from} to ${quietHours.to}.` : ''
  return `${what}.${quiet}${waiting > 0 ? ` ${waiting} not sent yet.` : ''}`
}

/** Why the last attempt failed, and what follows. */
export function failureLine({ failure }: RelayView): string | undefined {
  if (!failure) return undefined
  const { problem, at, again } = failure
  const next = again === undefined ? 'Given up.' : `Next attempt at ${timeOfDay(again / 1000)}.`
  return [`Failed at ${timeOfDay(at / 1000)}:`, problem.message, problem.advice, next]
    .filter(Boolean)
    .join(' ')
}
