import * as v from 'valibot'
import type { Clock, Files, Keychain, Log, Random } from '#platform/platform.ts'
import { accountPrefix } from '#shared/derived.ts'
import type { AccountId } from '#shared/ids.ts'
import { BerthError } from '#shared/problem.ts'
import { instanceRelayKinds, type RelayForm } from '#shared/relay.ts'
import type { Activity } from '../activity.ts'
import type { Alert } from '../alerts/events.ts'
import { minuteOfDay } from '../alerts/page-notices.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { type Document, type DocumentPlace, openDocument } from '../storage/json-file.ts'
import { isDeepEqual, type Store } from '../storage/store.ts'
import { type Address, deliveryOf, topicOf } from './formats.ts'
import {
  addressMissing,
  givenUpText,
  keychainClosed,
  messageOf,
  missingText,
  moreThanSends,
  noSuchRelay,
  oneForInstances,
  relayName,
  testMessage,
  tooManyRelays,
} from './messages.ts'
import { checkedAddress, type Outcome, type Post } from './post.ts'
import { type Message, Relay, relayView, withTold } from './record.ts'
import { relayMove, waitAfter } from './step.ts'

export interface RelaysContext {
  store: Store
  clock: Clock
  random: Pick<Random, 'hex'>
  files: Files
  keychain: Keychain
  activity: Pick<Activity, 'add'>
  /** Covers secrets in a text. */
  mask: Log['mask']
  post: Post
  onBroken: DocumentPlace['onBroken']
}

const mostRelays = 20
const entry = (id: string) => `relay/${id}`
const StoredAddress = v.object({ url: v.string(), secret: v.optional(v.string()) })

/**
 * Sends alerts to the addresses that the user chose. An alert is on disk before it's sent, and until it was accepted or
 * refused for a day. It's sent again under the same id where the answer was lost.
 */
export class Relays {
  readonly #context: RelaysContext
  readonly #stored: Document<Relay[]>
  readonly #worker: Worker<string>
  readonly #quitting = new AbortController()

  static async open(context: RelaysContext): Promise<Relays> {
    const place = { ...context, platform: context }
    return new Relays(context, await openDocument(place, 'relays', v.array(Relay), []))
  }

  private constructor(context: RelaysContext, stored: Document<Relay[]>) {
    this.#context = context
    this.#stored = stored
    const { clock } = context
    this.#worker = new Worker({ clock, quitting: this.#quitting.signal, turn: id => this.#turn(id) })
    this.#show()
    for (const { id } of stored.get()) this.#worker.wake(id)
    void this.#findMissing()
  }

  /** Tells which addresses the keychain has lost, as one does that lives only until Berth quits, before an alert is. */
  async #findMissing(): Promise<void> {
    const { activity, clock } = this.#context
    for (const relay of this.#stored.get()) {
      const isMissing = await this.#address(relay.id).then(
        address => address === undefined,
        () => false,
      )
      if (!isMissing || this.#quitting.signal.aborted) continue
      const failure = { at: clock.now(), problem: addressMissing }
      await this.#stored.record(changing(relay.id, one => ({ ...one, failure })))
      this.#show()
      activity.add({ kind: 'error', ...missingText(relay) })
    }
  }

  /** Alerts of the demo go nowhere. */
  tell(account: AccountId, alerts: readonly Alert[]): void {
    if (account === 'demo') return
    const { clock, mask, store } = this.#context
    const [at, prefix] = [clock.now(), accountPrefix(store.get().accounts, account)]
    const told = alerts.map(({ kind, title, body, urgency }) => ({
      ...{ kind, title: mask(title), body: mask(`${prefix}${body}`) },
      ...{ critical: urgency === 'critical', at },
    }))
    const wants = ({ alerts: kinds, fromInstances }: Relay) =>
      fromInstances ? [] : told.filter(({ kind }) => kinds.includes(kind))
    const wanting = this.#stored.get().filter(relay => wants(relay).length > 0)
    if (wanting.length === 0) return
    void this.#stored.record(relays => relays.map(relay => withTold(relay, wants(relay))))
    this.#show()
    for (const { id } of wanting) this.#worker.hurry(id)
  }

  /**
   * The address to which instances send, and the message of one of that name, with @TEXT@ for what happened, a line each;
   * empty for none. Rejects where the keychain can't be read.
   */
  async linesFor(account: AccountId, name: string): Promise<string> {
    const relay = this.#stored.get().find(({ fromInstances }) => fromInstances)
    if (!relay || account === 'demo') return ''
    const address = await this.#address(relay.id)
    if (!address) return ''
    const { clock, mask, random } = this.#context
    const [id, title] = [random.hex(32), mask(name)]
    const message: Message = { id, title, text: '@TEXT@', critical: true, alerts: [] }
    const { url, body } = deliveryOf(relay.kind, { url: address.url }, message, clock.now())
    return `${url}\n${body}`
  }

  /** Gives the secret that signs a webhook's messages, which nobody gets to see again. */
  async add(form: RelayForm, address: string): Promise<{ secret?: string | undefined }> {
    const { random, activity } = this.#context
    const url = addressFor(form, address)
    if (form.fromInstances && this.#stored.get().some(({ fromInstances }) => fromInstances))
      throw new BerthError(oneForInstances)
    if (this.#stored.get().length >= mostRelays) throw new BerthError(tooManyRelays)
    const id = `w${random.hex(16)}`
    const secret =
      form.kind === 'webhook' && !form.fromInstances
        ? `whsec_${Buffer.from(random.hex(64), 'hex').toString('base64')}`
        : undefined
    // First on disk: a keychain can't list its entries.
    await this.#stored.write(relays => [...relays, { ...form, id, waiting: [] }])
    await this.#keep(id, { url, secret }).catch(async (error: unknown) => {
      await this.#stored.record(without(id))
      throw error
    })
    this.#show()
    activity.add({ kind: 'user', text: `Alerts also go to ${relayName(form)}` })
    return { secret }
  }

  /** Changes all but the kind. Without an address, it keeps its own. Throws `no_such_relay`. */
  async change(id: string, form: RelayForm, address: string | undefined): Promise<void> {
    const { kind, fromInstances } = this.#get(id)
    if (address !== undefined) {
      const url = addressFor({ ...form, kind, fromInstances }, address)
      const before = await this.#address(id).catch(() => undefined)
      await this.#keep(id, { ...before, url })
    }
    const mended = address === undefined ? {} : { failure: undefined }
    await this.#stored.write(
      changing(id, relay => ({ ...atOnce(relay), ...form, ...mended, kind, fromInstances })),
    )
    this.#show()
    this.#worker.hurry(id)
  }

  /** Also drops what waits for it. Throws `no_such_relay`. */
  async remove(id: string): Promise<void> {
    const { activity, keychain } = this.#context
    const relay = this.#get(id)
    await keychain.delete(entry(id))
    await this.#stored.write(without(id))
    this.#show()
    activity.add({ kind: 'user', text: `Alerts no longer go to ${relayName(relay)}` })
  }

  /** Sends one message at once, and then what waits. Throws `no_such_relay` or why it was not accepted. */
  async test(id: string): Promise<void> {
    const relay = this.#get(id)
    const outcome = await this.#deliver(relay, testMessage(this.#context.random.hex(32)))
    if (outcome !== 'accepted') throw new BerthError(outcome.problem)
    await this.#stored.record(changing(id, one => ({ ...atOnce(one), failure: undefined })))
    this.#show()
    this.#worker.hurry(id)
  }

  /** Cuts off what is being sent: it's sent again at the next start. */
  async close(): Promise<void> {
    this.#quitting.abort()
    await this.#worker.flush()
    await this.#stored.flush()
  }

  async #turn(id: string): Promise<Next> {
    const relay = this.#stored.get().find(one => one.id === id)
    if (!relay) return 'rest'
    const { clock, random } = this.#context
    const now = clock.now()
    const move = relayMove(relay, now, minuteOfDay(now))
    switch (move.do) {
      case 'rest':
        return 'rest'
      case 'wait':
        return { after: move.milliseconds }
      case 'gather': {
        const taken = new Set(move.alerts)
        const sending = { id: random.hex(32), alerts: [...move.alerts], tries: 0, triedAt: now, wait: 0 }
        await this.#stored.write(
          changing(id, one => ({ ...one, sending, waiting: one.waiting.filter(told => !taken.has(told)) })),
        )
        return 'again'
      }
      case 'send':
        await this.#send(relay, now)
        return this.#quitting.signal.aborted ? 'rest' : 'again'
      case 'giveUp': {
        const alerts = relay.sending?.alerts ?? []
        this.#context.activity.add({ kind: 'error', ...givenUpText(relay, alerts) })
        await this.#stored.record(changing(id, one => ({ ...one, sending: undefined })))
        this.#show()
        return 'again'
      }
    }
  }

  async #send({ sending, ...relay }: Relay, now: number): Promise<void> {
    if (!sending) return
    const { id } = relay
    const tries = sending.tries + 1
    // On disk first: an attempt that a kill cuts off counts.
    await this.#stored.write(
      changing(id, one => ({
        ...one,
        sending: { ...sending, tries, triedAt: now, wait: waitAfter(tries, {}) },
      })),
    )
    const outcome = await this.#deliver(relay, messageOf(sending.id, sending.alerts, now))
    if (outcome === 'accepted')
      await this.#stored.record(
        changing(id, one => ({ ...one, sending: undefined, failure: undefined, sentAt: now })),
      )
    else if (!this.#quitting.signal.aborted)
      await this.#stored.record(
        changing(id, one => ({
          ...one,
          sending: one.sending && { ...one.sending, wait: waitAfter(tries, outcome) },
          failure: { at: now, problem: outcome.problem },
        })),
      )
    this.#show()
  }

  async #deliver({ id, kind }: Pick<Relay, 'id' | 'kind'>, message: Message): Promise<Outcome> {
    const { clock, mask, post } = this.#context
    let address: Address | undefined
    try {
      address = await this.#address(id)
    } catch {
      return { problem: keychainClosed }
    }
    if (!address) return { problem: addressMissing }
    // Again, since more secrets may be known by now.
    const masked = {
      ...message,
      title: mask(message.title),
      text: mask(message.text),
      alerts: message.alerts.map(told => ({ ...told, title: mask(told.title), body: mask(told.body) })),
    }
    return post(deliveryOf(kind, address, masked, clock.now()), this.#quitting.signal)
  }

  async #address(id: string): Promise<Address | undefined> {
    const text = await this.#context.keychain.get(entry(id))
    return text === undefined ? undefined : v.parse(StoredAddress, JSON.parse(text))
  }

  async #keep(id: string, address: Address): Promise<void> {
    await this.#context.keychain.set(entry(id), JSON.stringify(address))
  }

  #get(id: string): Relay {
    const relay = this.#stored.get().find(one => one.id === id)
    if (!relay) throw new BerthError(noSuchRelay)
    return relay
  }

  #show(): void {
    const { store } = this.#context
    const relays = Object.fromEntries(this.#stored.get().map(relay => [relay.id, relayView(relay)]))
    if (this.#quitting.signal.aborted || isDeepEqual(store.get().relays, relays)) return
    store.change(draft => {
      draft.relays = relays
    })
  }
}

/** Throws `wrong_address`, `no_topic` or, for one that instances get, `more_than_sends`. */
function addressFor(
  { kind, fromInstances }: Pick<RelayForm, 'kind' | 'fromInstances'>,
  text: string,
): string {
  const url = checkedAddress(text)
  if (fromInstances && !onlySends(kind, url)) throw new BerthError(moreThanSends)
  if (kind === 'ntfy') topicOf(url)
  return url
}

/** Whether who has the address can do nothing with it but send: a login of ntfy's may also read and manage. */
function onlySends(kind: RelayForm['kind'], url: string): boolean {
  if (!instanceRelayKinds.includes(kind)) return false
  return kind !== 'ntfy' || new URL(url).search === ''
}

function changing(id: string, change: (relay: Relay) => Relay): (relays: Relay[]) => Relay[] {
  return relays => relays.map(relay => (relay.id === id ? change(relay) : relay))
}

function without(id: string): (relays: Relay[]) => Relay[] {
  return relays => relays.filter(relay => relay.id !== id)
}

/** With no pause before the next attempt. */
function atOnce(relay: Relay): Relay {
  return { ...relay, sending: relay.sending && { ...relay.sending, wait: 0 } }
}
