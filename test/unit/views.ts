import { describedCapabilities } from '#shared/account/capabilities.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import type { ProjectRunView, RunView } from '#shared/automation/run.ts'
import type { FileTransferView } from '#shared/instance/files.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { PastRental, RentalView } from '#shared/market/rental-view.ts'
import { defaultSettings } from '#shared/settings.ts'
import type { AccountView, State } from '#shared/state.ts'

export function instanceView(given: Partial<InstanceView> = {}): InstanceView {
  return {
    id: 4711,
    state: 'running',
    actualStatus: 'running',
    interruptible: false,
    costPerHour: 400_000,
    spent: { micros: 0, at: 0, perHour: 400_000 },
    ports: [],
    jupyter: false,
    history: [],
    ...given,
  }
}

/** A run of a command, in progress by default. */
export function runView(given: Partial<RunView> = {}): RunView {
  return {
    id: 'x0000000000000001',
    name: 'train',
    command: 'python3 train.py',
    step: 'running',
    afterwards: 'nothing',
    watchdog: false,
    stuckAfter: 0,
    createdAt: 0,
    watchdogStale: false,
    outputs: [],
    outputBytes: 0,
    droppedBytes: 0,
    lastLine: '',
    fetched: false,
    interrupted: false,
    ...given,
  }
}

/** A run of a project, done by default. */
export function projectRunView(given: Partial<ProjectRunView> = {}): ProjectRunView {
  const cost = { micros: 0, at: 0, perHour: 0 }
  return { ...runView({ name: 'digits', step: 'done' }), project: 'p1', moves: 0, cost, ...given }
}

/** An upload to an instance, under way by default. */
export function fileTransferView(given: Partial<FileTransferView> = {}): FileTransferView {
  return {
    id: 'f0123456789abcdef',
    instance: 4711,
    direction: 'up',
    name: 'data',
    folder: '/workspace',
    step: 'running',
    total: 0,
    done: 0,
    files: 0,
    filesDone: 0,
    resumable: false,
    leftOut: 0,
    startedAt: 0,
    ...given,
  }
}

/** A limit of the account, which waits by default. */
export function limitView(given: Partial<LimitView> = {}): LimitView {
  return {
    id: 'g0000000000000001',
    when: { kind: 'cost', dollars: 9 },
    action: 'stop',
    warning: 0,
    missed: 'act',
    asleep: false,
    setAt: 0,
    sentence: '',
    step: 'waiting',
    history: [],
    ...given,
  }
}

/** A rental of one offer, under way by default. */
export function rentalView(given: Partial<RentalView> = {}): RentalView {
  return {
    id: 'r0000000000000001',
    step: 'waiting',
    attempts: [
      { mark: 'r0000000000000001', offer: { id: 5, gpuName: 'A100 SXM', gpuCount: 8 }, startedAt: 0 },
    ],
    image: 'pytorch/pytorch',
    interruptible: false,
    startedAt: 0,
    since: 0,
    deadline: 600,
    entered: false,
    cancelling: false,
    ...given,
  }
}

/** What was rented before, by its name. */
export function pastRental(what: string): PastRental {
  return { id: 'r0123456789abcdef', what, offer: { id: 1 }, setup: 'ubuntu', disk: 20, limits: [] }
}

export function byId<Item extends { id: string | number }>(items: readonly Item[]): Record<string, Item> {
  return Object.fromEntries(items.map(item => [item.id, item]))
}

export function accountView(given: Partial<AccountView> = {}, ...instances: InstanceView[]): AccountView {
  return {
    id: 'a00000001',
    name: 'Lab',
    baseUrl: 'https://gpu.example',
    demo: false,
    credit: 50_000_000,
    capabilities: describedCapabilities,
    connection: { status: 'online' },
    clock: { serverAt: 0, localAt: 0, rate: 1 },
    spendPerHour: instances.reduce((sum, { costPerHour }) => sum + costPerHour, 0),
    instances: byId(instances),
    rentals: {},
    limits: {},
    failedMachines: {},
    recoveries: {},
    notes: {},
    priceIncreases: {},
    watches: {},
    tunnels: {},
    ways: {},
    gpuMemory: {},
    watchdogs: {},
    runs: {},
    sweeps: {},
    waiting: {},
    undoable: {},
    endings: {},
    deletions: {},
    transfers: {},
    fileTransfers: {},
    ...given,
  }
}

/** A State of these accounts, the first shown. */
export function stateWith(...accounts: AccountView[]): State {
  return { ...emptyState(), shown: accounts[0]?.id, accounts: byId(accounts) }
}

export function emptyState(): State {
  return {
    app: {
      version: 'test',
      shell: 'browser',
      platform: 'linux',
      notifications: true,
      terminals: [],
      editors: [],
    },
    accounts: {},
    settings: defaultSettings,
    savedSearches: {},
    projects: {},
    projectSecrets: [],
    relays: {},
    activity: {},
    notices: {},
  }
}
