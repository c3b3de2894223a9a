import type { InstanceView } from '../../../../../electron/contract/instance/instance.ts'
import type { InstanceTarget } from '../../../../../electron/core/access/enter.ts'
import type { AccountContext } from '../../../../../electron/core/account-context.ts'
import { type Attempts, openAttempts } from '../../../../../electron/core/renting/attempts/service.ts'
import { openRentals, type Rentals } from '../../../../../electron/core/renting/rentals/service.ts'
import type { Files } from '../../../../../electron/ports/files.ts'
import { instanceView } from '../../../views.ts'
import { account, accountContext, freshAnswer } from '../../account-context.ts'
import type { HandClock } from '../../hand-clock.ts'
import type { MemoryFiles } from '../../memory-files.ts'
import type { PlainWorld } from './plain-world.ts'

/** The rentals and attempts of one account, in one process of Berth. */
export interface OneBerth {
  rentals: Rentals
  attempts: Attempts
  /** Machines that are blamed for a failed attempt. */
  blamed(): number[]
  /** A poll of the account, answered or not. */
  poll(answered: boolean): void
  /** Kills it: nothing it still does takes effect. */
  kill(): void
}

interface Machine {
  world: PlainWorld
  files: MemoryFiles
  clock: HandClock
  now: () => number
  newId: () => string
  keychain: Map<string, string>
}

export async function startOne({ world, files, clock, now, newId, keychain }: Machine): Promise<OneBerth> {
  const ending = new AbortController()
  const { signal } = ending
  const client = world.client(signal)
  const mine: Files = {
    path: name => files.path(name),
    read: name => files.read(name),
    write: (name, text) => (signal.aborted ? new Promise(() => undefined) : files.write(name, text)),
    append: (name, content) => files.append(name, content),
    readPart: (name, from, most) => files.readPart(name, from, most),
    list: folder => files.list(folder),
    delete: name => files.delete(name),
  }
  const context = accountContext({
    files: mine,
    clock,
    client: () => client,
    ending: signal,
    now,
    newId,
    keychain: {
      persistent: true,
      get: async (name: string) => keychain.get(name),
      set: async (name: string, secret: string) => void keychain.set(name, secret),
      delete: async (name: string) => void keychain.delete(name),
    },
    access: {
      probe: ({ instance }: InstanceTarget) =>
        signal.aborted ? new Promise(() => undefined) : world.probeSsh(instance),
    } as unknown as AccountContext['access'],
  })
  const show = (instances: Readonly<Record<string, InstanceView>>) =>
    context.store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.instances = { ...instances }
    })
  show(Object.fromEntries([...world.strangers].map(id => [id, instanceView({ id })])))
  const rentals = await openRentals(context, {
    onCreated: () => undefined,
    guard: async () => undefined,
  })
  const attempts = await openAttempts(context, rentals, { actedOn: () => undefined })
  rentals.resume()
  return {
    rentals,
    attempts,
    blamed: () => Object.keys(attempts.hosts.view()).map(Number),
    poll(answered) {
      if (!answered) return
      const { instances, records } = world.poll(now())
      show(instances)
      const answer = freshAnswer(context, instances, records, now())
      rentals.onPoll(answer)
      attempts.onPoll(answer)
    },
    kill: () => ending.abort(),
  }
}
