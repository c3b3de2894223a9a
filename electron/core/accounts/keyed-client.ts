import { BerthError, type Problem } from '#contract/problem.ts'
import type { AccountView } from '#contract/state.ts'
import type { AccountClock } from '#core/instances/account-clock.ts'
import { notingAsked } from '#core/instances/noting-asked.ts'
import { isDeepEqual } from '#core/state/same.ts'
import type { Keychain } from '#machine/machine.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type ServiceClient } from '#service/client.ts'
import { capabilitiesOf, type Learnt } from '#service/dialect.ts'
import { requestClock } from '#service/http/clock.ts'
import type { SessionContext } from './session-context.ts'
import type { SessionMemory } from './session-memory.ts'

/** An account's client with its present key. */
export interface KeyedClient {
  /** Undefined while there is no key. */
  readonly key: string | undefined
  readonly current: ServiceClient | undefined
  /** Throws `key_missing` while there is no key. */
  get(): ServiceClient
  use(key: string): void
}

export function createKeyedClient(
  { id, baseUrl }: Pick<AccountView, 'id' | 'baseUrl'>,
  { store, machine }: Pick<SessionContext, 'store' | 'machine'>,
  { lastSeen, missingInstances, dialect, watchdogs }: SessionMemory,
  time: AccountClock,
): KeyedClient {
  let inUse: { key: string; client: ServiceClient } | undefined

  function learnt(all: Learnt): void {
    void dialect.record(() => all)
    const capabilities = capabilitiesOf(all)
    if (isDeepEqual(store.get().accounts[id]?.capabilities, capabilities)) return
    store.change(draft => void Object.assign(draft.accounts[id] ?? {}, { capabilities }))
  }

  return {
    get key() {
      return inUse?.key
    },
    get current() {
      return inUse?.client
    },
    get() {
      if (!inUse) throw new BerthError(keyMissing(machine.keychain))
      return inUse.client
    },
    use(key) {
      const client = createClient({
        baseUrl: parseBaseUrl(baseUrl),
        key,
        clock: requestClock(machine.clock),
        random: machine.random.fraction,
        onAnswer: time.learn,
        dialect: { get: dialect.get, set: learnt },
      })
      const noting = { account: id, store, lastSeen, now: time.now, onEnd: watchdogs.endsHere }
      inUse = { key, client: notingAsked(missingInstances.noting(client), noting) }
    },
  }
}

const advice = 'Unlock the keychain and try again, or enter the key once more.'

/** The problem of an account without a readable key. */
export function keyMissing({ persistent, problem }: Pick<Keychain, 'persistent' | 'problem'>): Problem {
  if (!persistent || problem !== undefined)
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
