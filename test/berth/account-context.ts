import { setMaxListeners } from 'node:events'
import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { Deletions } from '#core/endings/deletions.ts'
import { Endings } from '#core/endings/perform.ts'
import { MissingPolls } from '#core/instances/missing-instances.ts'
import { createStore } from '#core/storage/store.ts'
import type { FullClient } from '#service/client.ts'
import type { Instance } from '#service/instances.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
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
    platform: { clock } as unknown as AccountContext['platform'],
    files: new MemoryFiles(),
    folder: `accounts/${account}`,
    onBroken: ({ name, why }) => {
      throw new Error(`${name} ${why}`)
    },
    ...noting(),
    record: () => undefined,
    quitting: new AbortController().signal,
    now: () => clock.monotonic() / 1000,
    newId() {
      ids += 1
      return ids.toString(16).padStart(16, '0')
    },
    poll: async () => undefined,
    endings: endingsAtOnce(() => (context as AccountContext).client()),
    ...parts,
  }
  // As in a session: each engine hears of the end.
  if (context.quitting) setMaxListeners(0, context.quitting)
  return context as AccountContext
}

/** Endings that are seen with the answer to their request. */
export function endingsAtOnce(client: () => unknown): AccountContext['endings'] {
  const end = async (instance: number, action: 'stop' | 'destroy') => {
    await (client() as FullClient).instances[action](instance)
  }
  return {
    begin: end,
    end: async (instance: number, action: 'stop' | 'destroy') => end(instance, action).then(() => true),
    request: async (instance: number, action: 'stop' | 'destroy') => end(instance, action).then(() => true),
    expect: async () => undefined,
    startInstead: async (_: number, start: () => Promise<unknown>) => start(),
    pending: () => undefined,
    allPending: () => [],
    isDestroyed: () => false,
    isStoppedByUser: () => false,
    follow: () => undefined,
  } as unknown as AccountContext['endings']
}

/** The real endings of a context; their readings are the test's polls. */
export async function withEndings(context: AccountContext, client: () => unknown): Promise<Endings> {
  context.endings = await Endings.open({
    ...context,
    client: client as () => FullClient,
    onDestroyed: () => undefined,
  })
  context.deletions = await Deletions.open({ ...context, client: client as () => FullClient })
  return context.endings
}

/** An Activity and notifications that note the texts and titles in `said`. */
export function noting() {
  const said: string[] = []
  const bodies: string[] = []
  const withdrawn: string[] = []
  return {
    said,
    bodies,
    withdrawn,
    activity: {
      add: ({ text }: { text: string }) => void said.push(text),
      search: () => [],
      flush: async () => undefined,
    },
    notifications: {
      tell(_account: string, alerts: readonly { title: string; body: string }[]) {
        said.push(...alerts.map(({ title }) => title))
        bodies.push(...alerts.map(({ body }) => body))
      },
      withdraw: (id: string) => void withdrawn.push(id),
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
