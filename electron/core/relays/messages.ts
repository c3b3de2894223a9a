import { type AlertKind, alertKinds } from '#shared/alert-kinds.ts'
import { counted } from '#shared/format/size.ts'
import { atMoment } from '#shared/format/time.ts'
import type { Problem } from '#shared/problem.ts'
import { type RelayForm, relayWords } from '#shared/relay.ts'
import type { Message, Told } from './record.ts'

/** The titles that a message for many alerts has. */
const mostTitles = 6
/** Milliseconds after which a message says when its alerts were told. */
const late = 120_000

/** One message for these alerts, of which there is at least one. `now`: epoch milliseconds on this machine. */
export function messageOf(id: string, alerts: readonly Told[], now: number): Message {
  const critical = alerts.some(alert => alert.critical)
  const [first, ...others] = alerts
  const at = first && now - first.at > late ? atMoment(first.at / 1000, now / 1000) : ''
  if (others.length === 0) {
    const lines = [first?.body ?? '', at && `Told ${at}.`].filter(Boolean)
    return { id, title: first?.title ?? '', text: lines.join('\n'), critical, alerts }
  }
  const more = alerts.length - mostTitles
  const lines = [
    kindsOf(alerts),
    ...alerts.slice(0, mostTitles).map(({ title }) => `${title}.`),
    ...(more > 0 ? [`And ${more} more.`] : []),
    ...(at ? [`The first was told ${at}.`] : []),
  ]
  return { id, title: `${alerts.length} alerts`, text: lines.join('\n'), critical, alerts }
}

/** `Host gone: 58. Outbid: 2.` */
function kindsOf(alerts: readonly Told[]): string {
  const counts = new Map<AlertKind, number>()
  for (const { kind } of alerts) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${alertKinds[kind].label}: ${count}.`).join(' ')
}

export function testMessage(id: string): Message {
  const title = 'A test by Berth'
  return { id, title, text: 'Alerts that you chose are sent here.', critical: false, alerts: [] }
}

/** `Phone (ntfy)`. */
export function relayName({ name, kind }: Pick<RelayForm, 'name' | 'kind'>): string {
  return `${name} (${relayWords[kind]})`
}

export function givenUpText(relay: RelayForm, alerts: readonly Told[]): { text: string; detail: string } {
  return {
    text: `${counted(alerts.length, 'alert')} could not be sent to ${relayName(relay)} for a day`,
    detail: alerts
      .slice(0, mostTitles)
      .map(({ title }) => `${title}.`)
      .join(' '),
  }
}

export function missingText(relay: RelayForm): { text: string; detail: string } {
  return {
    text: `No alerts go to ${relayName(relay)}: the keychain has lost its address`,
    detail: 'Enter it again in Settings, Alerts elsewhere.',
  }
}

export const wrongAddress: Problem = {
  code: 'wrong_address',
  message: 'Alerts can’t be sent to this address.',
  advice: 'Enter a public address that begins with https://, or one of this computer.',
  field: 'address',
}

export const noTopic: Problem = {
  code: 'no_topic',
  message: 'This address has no topic.',
  advice: 'Enter it like https://ntfy.sh/your-topic.',
  field: 'address',
}

export const noSuchRelay: Problem = {
  code: 'no_such_relay',
  message: 'This address for alerts was removed.',
}

export const tooManyRelays: Problem = {
  code: 'too_many_relays',
  message: 'Alerts can go to at most 20 addresses.',
  advice: 'Remove one first.',
}

export const oneForInstances: Problem = {
  code: 'one_for_instances',
  message: 'Instances already have an address.',
  advice: 'Change or remove that one.',
}

export const moreThanSends: Problem = {
  code: 'more_than_sends',
  message: 'Instances get no address that can do more than send.',
  advice: 'Use a topic without a login, or a Slack, Teams or webhook address of its own.',
  field: 'address',
}

export const addressMissing: Problem = {
  code: 'address_missing',
  message: 'The keychain doesn’t have the address.',
  advice: 'Enter it again with Change….',
}

export const keychainClosed: Problem = {
  code: 'keychain_closed',
  message: 'The keychain with the address couldn’t be read.',
}

export const movedElsewhere: Problem = {
  code: 'redirected',
  message: 'The receiver redirects to another address, and Berth follows none.',
  advice: 'Enter the other address if you trust it.',
}

export const privateAddress: Problem = {
  code: 'private_address',
  message: 'The address leads into a private network, so nothing was sent.',
  advice: 'Use a public address.',
}

export const receiverSilent: Problem = {
  code: 'timeout',
  message: 'The receiver didn’t answer in time.',
}

export const lostAnswer: Problem = {
  code: 'connection_lost',
  message: 'The connection was lost before the receiver answered.',
}

export const notReached: Problem = {
  code: 'offline',
  message: 'The receiver couldn’t be reached.',
  advice: 'Check the address and the internet connection.',
}

export const untrusted: Problem = {
  code: 'untrusted_certificate',
  message: 'The receiver’s certificate isn’t valid, so nothing was sent.',
}

export function receiverBehindProxy(message: string): Problem {
  return { code: 'proxy_failed', message, advice: 'Check the proxy in the system’s settings.' }
}

export function refusedWith(status: number): Problem {
  if (status === 429) return { code: 'rate_limited', message: 'The receiver got too many messages (429).' }
  if (status >= 500) return { code: 'server_error', message: `The receiver failed (${status}).` }
  return {
    code: 'refused',
    message: `The receiver refused the message (${status}).`,
    advice: 'Check that the address is right and still valid.',
  }
}
