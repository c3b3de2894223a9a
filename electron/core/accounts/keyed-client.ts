import type { AccountClock } from '#core/instances/account-clock.ts'
import type { Keychain } from '#platform/platform.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type FullClient } from '#service/client.ts'
import { capabilitiesOf, type Learnt } from '#service/dialect.ts'
import type { StateRequest } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import type { LastSeen } from '../instances/last-seen.ts'
import type { Document } from '../storage/json-file.ts'
import { isDeepEqual, type Store } from '../storage/store.ts'
import type { SessionContext, SessionMemory } from './session-context.ts'

export type KeyedClient = ReturnType<typeof createKeyedClient>

/** An account's client with its present key. */
export function createKeyedClient(
  { id, baseUrl }: Pick<AccountView, 'id' | 'baseUrl'>,
  { store, platform }: Pick<SessionContext, 'store' | 'platform'>,
  { lastSeen, dialect, watchdogs }: SessionMemory,
  time: AccountClock,
  checks: {
    mayCost: (instance: number, bid?: number) => void
    /** Resolves with why nothing that changes something may be sent now. */
    hindrance: () => Promise<Problem | undefined>
  },
) {
  let inUse: { key: string; client: FullClient } | undefined

  function learnt(all: Learnt): void {
    void dialect.record(() => all)
    const capabilities = capabilitiesOf(all)
    if (isDeepEqual(store.get().accounts[id]?.capabilities, capabilities)) return
    store.change(draft => void Object.assign(draft.accounts[id] ?? {}, { capabilities }))
  }

  function tooFast(seconds: number): void {
    const askedToWait = platform.clock.now() + seconds * 1000
    store.change(draft => void Object.assign(draft.accounts[id] ?? {}, { askedToWait }))
  }

  return {
    /** Undefined while there is no key. */
    get key(): string | undefined {
      return inUse?.key
    },
    get current(): FullClient | undefined {
      return inUse?.client
    },
    /** Throws `key_missing` while there is no key. */
    get(): FullClient {
      if (!inUse) throw new BerthError(keyMissing(platform.keychain, lastSeen.get().at === undefined))
      return inUse.client
    },
    use(key: string): void {
      const client = createClient({
        baseUrl: parseBaseUrl(baseUrl),
        key,
        clock: platform.clock,
        random: platform.random.fraction,
        onAnswer: time.learn,
        onTooFast: tooFast,
        hindrance: checks.hindrance,
        dialect: { get: dialect.get, set: learnt },
      })
      const { mayCost } = checks
      const noting = { account: id, store, lastSeen, now: time.now, mayCost, onEnd: watchdogs.endsHere }
      inUse = { key, client: notingAsked(client, noting) }
    },
  }
}

const advice = 'Unlock the keychain and try again, or enter the key once more.'

/** The problem of an account without a readable key. `isNew`: nobody has used it here yet, as after an import. */
export function keyMissing({ problem }: Pick<Keychain, 'problem'>, isNew: boolean): Problem {
  if (isNew)
    return {
      code: 'key_missing',
      message: 'This account has no API key here yet.',
      advice: 'Enter one to use the account on this computer.',
    }
  if (problem !== undefined)
    return {
      code: 'key_missing',
      message: 'The keychain isn’t available, so Berth doesn’t have this account’s API key.',
      advice,
    }
  return {
    code: 'key_missing',
    message: 'This account’s API key isn’t in the keychain.',
    advice,
  }
}

/**
 * The same client, which notes each start and stop in State and on disk before the call, so that after a kill a stop of
 * Berth's does not look like someone else's. An instance is stopped even where the note cannot be written.
 */
export function notingAsked(
  client: FullClient,
  context: {
    account: AccountView['id']
    store: Store
    lastSeen: Document<LastSeen>
    now: () => number
    /** Throws where a cap of its spender forbids to start an instance, or to bid those dollars per hour for it. */
    mayCost: (instance: number, bid?: number) => void
    /** Called before an instance is stopped or destroyed. */
    onEnd: (instance: number) => void
  },
): FullClient {
  const { instances } = client
  const { account, store, lastSeen, now, mayCost, onEnd } = context

  async function note(instance: number, wanted: Omit<StateRequest, 'at'>): Promise<void> {
    const asked = { ...wanted, at: now() }
    store.change(draft => {
      const target = draft.accounts[account]?.instances[instance]
      if (target) target.stateRequest = asked
    })
    const view = store.get().accounts[account]?.instances[instance]
    if (view) await lastSeen.record(seen => ({ ...seen, instances: { ...seen.instances, [instance]: view } }))
  }

  const stop: typeof instances.stop = async (id, options) => {
    onEnd(id)
    await note(id, { state: 'stopped' })
    return instances.stop(id, options)
  }
  const start: typeof instances.start = async (id, options) => {
    mayCost(id)
    await note(id, { state: 'running' })
    const answer = await instances.start(id, options)
    if (answer.queued) await note(id, { state: 'running', queued: true })
    return answer
  }
  const destroy: typeof instances.destroy = (id, options) => {
    onEnd(id)
    return instances.destroy(id, options)
  }
  const changeBid: typeof instances.changeBid = async (id, price, options) => {
    mayCost(id, price)
    return instances.changeBid(id, price, options)
  }
  return { ...client, instances: { ...instances, stop, start, destroy, changeBid } }
}
