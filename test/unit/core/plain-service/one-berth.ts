import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import type { AccountContext } from '../../../../electron/core/account-context.ts'
import { project } from '../../../../electron/core/instances/project.ts'
import { secretsEntry } from '../../../../electron/core/renting/rentals/secrets.ts'
import { openRentals, type Rentals } from '../../../../electron/core/renting/rentals/service.ts'
import { createStore } from '../../../../electron/core/state/store.ts'
import { notedKeychain } from '../../../../electron/core/storage/noted-keychain.ts'
import type { Instance } from '../../../../electron/service/instances.ts'
import { accountView, emptyState } from '../../views.ts'
import { account, accountContext, freshAnswer } from '../account-context.ts'
import type { HandClock } from '../hand-clock.ts'
import type { MemoryFiles } from '../memory-files.ts'
import { dyingFiles, dyingKeychain } from './dying-files.ts'
import type { PlainService, Watch } from './service.ts'
import type { Turns } from './turns.ts'

/** A machine that Berth runs on, again and again: what outlives a kill. */
export interface Machine {
  name: string
  service: PlainService
  turns: Turns
  clock: HandClock
  files: MemoryFiles
  keychain: Map<string, string>
  /** The instances that were shown last. */
  shown: Record<string, InstanceView>
  /** The account's time, as this machine has learned it. */
  now(): number
  newId(): string
}

/** Who watches from outside. */
export interface Observer extends Watch {
  /**
   * A fresh answer, before anything else hears of it. `certain`: nothing else of that Berth is under way that it could
   * have come in the middle of.
   */
  seen(records: readonly Instance[], certain: boolean): void
  /** What followed from the answer at once has followed. */
  took?(): void
  /** A file is on disk. */
  written?(name: string): void
}

/** A fresh answer, as it is told to whatever decides on it. */
export interface Seen {
  instances: Readonly<Record<string, InstanceView>>
  records: readonly Instance[]
}

interface Automatic {
  onPoll(seen: Seen): void
  secretOwners(): readonly string[]
}

/** One account, as a process of Berth has it. */
export interface OneBerth<Automation extends Automatic = Automatic> {
  rentals: Rentals
  automation: Automation
  /** A poll of the account; one that is under way already is followed by another. */
  poll(): void
  /** It ends where it stands: nothing it still does has an effect. */
  kill(): void
}

export async function startOne<Automation extends Automatic>(
  machine: Machine,
  observer: Observer,
  automate: (context: AccountContext, rentals: Rentals) => Promise<Automation>,
): Promise<OneBerth<Automation>> {
  const { service, turns, clock, now, newId } = machine
  const dead = new AbortController()
  const { signal } = dead
  const client = service.client(machine.name, signal, observer)
  const instances = machine.shown
  const store = createStore({
    ...emptyState(),
    accounts: { [account]: accountView({ id: account, instances }) },
  })
  let polling = false
  let again = false

  function poll(): void {
    if (polling) {
      again = true
      return
    }
    polling = true
    client.instances
      .list()
      .then(
        ({ instances }) => seen(instances),
        () => undefined,
      )
      .then(() => {
        polling = false
        if (!again) return
        again = false
        poll()
      })
  }

  function seen(records: readonly Instance[]): void {
    const views = records.map(record => project(record, machine.shown[record.id], now()))
    machine.shown = Object.fromEntries(views.map(view => [view.id, view]))
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.instances = machine.shown
    })
    observer.seen(records, !turns.awaits(signal))
    berth.rentals.onPoll(freshAnswer({ store }, machine.shown, records, now()))
    berth.automation.onPoll({ instances: machine.shown, records })
    observer.took?.()
  }

  async function open(): Promise<OneBerth<Automation>> {
    const files = dyingFiles(machine.files, turns, signal, name => observer.written?.(name))
    const onBroken = (name: string) => {
      throw new Error(`${name} is broken`)
    }
    const keychain = await notedKeychain(dyingKeychain(machine.keychain, turns, signal), {
      files,
      clock,
      name: 'secrets.json',
      onBroken,
    })
    const context = accountContext({
      clock,
      store,
      files,
      keychain,
      client: () => client,
      ending: signal,
      now,
      newId,
      poll: async () => poll(),
      onBroken,
    })
    const rentals = await openRentals(context, {
      onCreated: () => undefined,
      guard: async () => undefined,
    })
    const automation = await automate(context, rentals)
    const owners = [...rentals.secretOwners(), ...automation.secretOwners()]
    await keychain.keepOnly(new Set(owners.map(secretsEntry)))
    return { rentals, automation, poll, kill: () => dead.abort() }
  }

  let opened: OneBerth<Automation> | undefined
  void open().then(done => {
    opened = done
  })
  while (!opened) await turns.give(0)
  const berth = opened
  berth.rentals.resume()
  return berth
}

/** Nothing but rentals. */
export async function nothingElse(): Promise<Automatic> {
  return { onPoll: () => undefined, secretOwners: () => [] }
}
