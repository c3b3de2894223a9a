import type { InstanceView } from '#contract/instance/instance.ts'
import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { MissingPolls } from '#core/instances/missing-instances.ts'
import { createStore } from '#core/storage/store.ts'
import type { Instance } from '#service/instances.ts'
import { accountView, emptyState } from '../unit/views.ts'
import { HandClock } from './clocks.ts'
import { MemoryFiles } from './machine.ts'

export const account = 'a00000001'

/**
 * The context of one account, with a clock moved by hand: the given parts, and for the rest files in memory, a State
 * with the account in it, and an Activity and notifications that nobody reads.
 */
export function accountContext(given: Partial<AccountContext> & { clock?: HandClock } = {}): AccountContext {
  const { clock = new HandClock(), ...parts } = given
  const store = createStore({ ...emptyState(), accounts: { [account]: accountView({ id: account }) } })
  let ids = 0
  const context: Partial<AccountContext> = {
    account,
    store,
    machine: { clock } as unknown as AccountContext['machine'],
    files: new MemoryFiles(),
    folder: `accounts/${account}`,
    onBroken: ({ name, why }) => {
      throw new Error(`${name} ${why}`)
    },
    ...noting(),
    record: () => undefined,
    ending: new AbortController().signal,
    now: () => clock.monotonic() / 1000,
    newId() {
      ids += 1
      return ids.toString(16).padStart(16, '0')
    },
    poll: async () => undefined,
    ...parts,
  }
  return context as AccountContext
}

/** An Activity and notifications that note the texts and titles in `said`. */
export function noting() {
  const said: string[] = []
  return {
    said,
    activity: {
      add: ({ text }: { text: string }) => void said.push(text),
      search: () => [],
      flush: async () => undefined,
    },
    notifications: {
      tell: (_account: string, alerts: readonly { title: string }[]) =>
        void said.push(...alerts.map(({ title }) => title)),
      withdraw: () => undefined,
    } as unknown as AccountContext['notifications'],
  }
}

const counts = new WeakMap<object, MissingPolls>()

/** A fresh poll, as the automations get it. */
export function freshAnswer(
  { store }: Pick<AccountContext, 'store'>,
  instances: Readonly<Record<string, InstanceView>>,
  records: readonly Instance[] = [],
  at = 0,
): AccountPoll {
  const missing = counts.get(store) ?? new MissingPolls()
  counts.set(store, missing)
  return {
    account: { ...(store.get().accounts[account] ?? accountView()), instances },
    records,
    unconfirmed: new Set(),
    pollsMissing: missing.next(id => id in instances),
    at,
  }
}
