import type { InstanceView } from '../../../../../electron/contract/instance/instance.ts'
import { project } from '../../../../../electron/core/instances/project.ts'
import { type KeptRentals, openRentals } from '../../../../../electron/core/rentals/open-rentals.ts'
import { createStore } from '../../../../../electron/core/store.ts'
import type { Instance } from '../../../../../electron/service/instances.ts'
import type { HandClock } from '../../hand-clock.ts'
import type { MemoryFiles } from '../../memory-files.ts'
import { dyingFiles, dyingKeychain } from '../../plain-service/dying-files.ts'
import type { PlainService, Watch } from '../../plain-service/service.ts'
import type { Turns } from '../../plain-service/turns.ts'
import { accountView, emptyState } from '../../views.ts'

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

/** The rentals of one account, as a process of Berth has them. */
export interface OneBerth {
  rentals: KeptRentals
  /** A look at the account; one that is under way already is followed by another. */
  look(): void
  /** It ends where it stands: nothing it still does has an effect. */
  kill(): void
}

const account = 'a00000001'

/** `onSeen` is called with a fresh answer before the rentals hear of it. */
export async function startOne(
  machine: Machine,
  watch: Watch,
  onSeen: (records: readonly Instance[]) => void,
): Promise<OneBerth> {
  const { service, turns, clock, now } = machine
  const dead = new AbortController()
  const { signal } = dead
  const client = service.client(machine.name, signal, watch)
  const state = emptyState()
  const store = createStore({
    ...state,
    accounts: { [account]: accountView({ id: account, instances: machine.shown }) },
  })
  let looking = false
  let again = false

  function look(): void {
    if (looking) {
      again = true
      return
    }
    looking = true
    client.instances
      .list()
      .then(seen, () => undefined)
      .then(() => {
        looking = false
        if (!again) return
        again = false
        look()
      })
  }

  function seen(records: readonly Instance[]): void {
    const views = records.map(record => project(record, machine.shown[record.id], now()))
    machine.shown = Object.fromEntries(views.map(view => [view.id, view]))
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.instances = machine.shown
    })
    onSeen(records)
    rentals.looked(machine.shown, records)
  }

  const opening = openRentals({
    account,
    store,
    activity: { add: () => undefined, search: () => [], flush: async () => undefined },
    files: dyingFiles(machine.files, turns, signal),
    keychain: dyingKeychain(machine.keychain, turns, signal),
    clock,
    client: () => client,
    ending: signal,
    now,
    newId: machine.newId,
    look,
    created: () => undefined,
    onBroken: name => {
      throw new Error(`${name} is broken`)
    },
  })
  let open = false
  void opening.then(() => {
    open = true
  })
  while (!open) await turns.give(0)
  const rentals = await opening
  rentals.show()
  rentals.resume()
  return { rentals, look, kill: () => dead.abort() }
}
