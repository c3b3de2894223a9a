import { defaultSettings } from '../../../electron/contract/app/settings.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { RentalView } from '../../../electron/contract/market/rental.ts'
import type { AccountView, State } from '../../../electron/contract/state.ts'

/** A running instance, unless told otherwise. */
export function someInstance(id: number, over: Partial<InstanceView> = {}): InstanceView {
  return {
    id,
    state: 'running',
    actualStatus: 'running',
    interruptible: false,
    costPerHour: 410_000,
    diskPricePerHour: 6000,
    spent: { micros: 0, at: 0, perHour: 410_000 },
    ports: [],
    jupyter: false,
    history: [],
    ...over,
  }
}

/** A rental on its way, unless told otherwise. */
export function someRental(over: Partial<RentalView> = {}): RentalView {
  return {
    id: 'r0000000000000001',
    step: 'waiting',
    offer: { id: 5, gpuName: 'A100 SXM', gpuCount: 8 },
    image: 'pytorch/pytorch',
    interruptible: false,
    startedAt: 0,
    deadline: 600,
    ...over,
  }
}

export function someAccount(
  instances: readonly InstanceView[],
  rentals: readonly RentalView[] = [],
): AccountView {
  return {
    id: 'demo',
    name: 'Demo',
    baseUrl: 'http://127.0.0.1:1',
    demo: true,
    connection: { status: 'online' },
    clock: { serverAt: 0, localAt: 0, rate: 1 },
    spendPerHour: 0,
    instances: Object.fromEntries(instances.map(instance => [String(instance.id), instance])),
    rentals: Object.fromEntries(rentals.map(rental => [rental.id, rental])),
    guards: {},
    failovers: {},
    failedMachines: {},
    recoveries: {},
    priceIncreases: {},
    watches: {},
    tunnels: {},
    ways: {},
    gpuMemory: {},
    watchdogs: {},
    runs: {},
    jobs: {},
    undoable: {},
    transfers: {},
    fileTransfers: {},
  }
}

export function someState(instances: readonly number[]): State {
  return {
    app: {
      version: '0.1.0',
      shell: 'browser',
      platform: 'linux',
      notifications: false,
      terminals: [],
      editors: [],
    },
    shown: 'demo',
    accounts: { demo: someAccount(instances.map(id => someInstance(id))) },
    settings: defaultSettings,
    savedSearches: {},
    projects: {},
    projectSecrets: [],
    activity: {},
    notices: {},
  }
}
