import * as v from 'valibot'
import { createFailovers, type Failovers } from '../../../../../electron/core/renting/attempts/attempts.ts'
import { Failover } from '../../../../../electron/core/renting/attempts/attempts-model.ts'
import { openFailedHosts } from '../../../../../electron/core/renting/attempts/failed-hosts.ts'
import { Rental } from '../../../../../electron/core/renting/rentals/rental.ts'
import { createRentals, type Rentals } from '../../../../../electron/core/renting/rentals/rentals.ts'
import { openDocument } from '../../../../../electron/core/storage/json-file.ts'
import type { Files } from '../../../../../electron/ports/files.ts'
import type { HandClock } from '../../hand-clock.ts'
import type { MemoryFiles } from '../../memory-files.ts'
import type { PlainWorld } from './plain-world.ts'

/** The rentals and failovers of one account, as a process of Berth has them. */
export interface OneBerth {
  rentals: Rentals
  failovers: Failovers
  /** Machines that are remembered for a try that failed there. */
  blamed(): number[]
  /** A fresh look at the account, or one that was not answered. */
  look(answered: boolean): void
  /** It ends where it stands: nothing it still does has an effect. */
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
  const context = { files: mine, clock, onBroken: () => undefined }
  const [kept, tried, hosts] = await Promise.all([
    openDocument({ ...context, name: 'rentals.json', schema: v.array(Rental), empty: [] }),
    openDocument({ ...context, name: 'failovers.json', schema: v.array(Failover), empty: [] }),
    openFailedHosts({ ...context, name: 'hosts.json' }),
  ])
  const common = {
    account: 'a00000001',
    client: () => client,
    ending: signal,
    clock,
    now,
    newId,
    changed: () => undefined,
    poll: async () => undefined,
    tell: () => undefined,
    beyondInterface: () => false,
    keychain: {
      persistent: true,
      get: async (name: string) => keychain.get(name),
      set: async (name: string, secret: string) => void keychain.set(name, secret),
      delete: async (name: string) => void keychain.delete(name),
    },
  }
  const rentals = createRentals({
    ...common,
    document: kept,
    knownInstances: () => [...world.strangers],
    deadline: () => 600,
    created: () => undefined,
  })
  const failovers = createFailovers({
    ...common,
    heldBack: () => undefined,
    stopperOf: () => undefined,
    document: tried,
    hosts,
    rentals,
    knock: instance => (signal.aborted ? new Promise(() => undefined) : world.knock(instance)),
  })
  rentals.resume()
  return {
    rentals,
    failovers,
    blamed: () => Object.keys(hosts.view()).map(Number),
    look(answered) {
      if (!answered) return
      const { instances, records } = world.look(now())
      rentals.looked(instances, records)
      failovers.looked(instances)
    },
    kill: () => ending.abort(),
  }
}
