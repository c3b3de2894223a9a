import type { Capabilities } from './account/capabilities.ts'
import type { TransferView } from './account/transfer.ts'
import type { DeletionView, EndingView } from './automation/ending.ts'
import type { LimitView } from './automation/limit.ts'
import type { RecoveryView } from './automation/recovery.ts'
import type { RunView } from './automation/run.ts'
import type { SweepView, WaitingMachineView } from './automation/sweep.ts'
import type { WatchView } from './automation/watch.ts'
import type { WatchdogView } from './automation/watchdog.ts'
import type { AccountId } from './ids.ts'
import type { FileTransferView } from './instance/files.ts'
import type { InstanceNote, InstanceView, UndoableView } from './instance/instance.ts'
import type { MaintenanceView } from './instance/maintenance.ts'
import type { TunnelView } from './instance/tunnel.ts'
import type { SavedQuery } from './market/offer-query.ts'
import type { FailedMachineView, PastRental, RentalView } from './market/rental-view.ts'
import type { Problem } from './problem.ts'
import type { ProjectView } from './project/project.ts'
import type { RelayView } from './relay.ts'
import type { DetailsTab, Settings } from './settings.ts'
import type { Micros } from './spending/money.ts'
import type { PriceIncreaseView } from './spending/price-increase.ts'
import type { EverythingUse, Spender, SpenderView } from './spending/spender.ts'

/** All data of the page and the tray. Both are functions of it, and store nothing else. */
export interface State {
  app: App
  /** The account that is shown; undefined only while none exists. */
  shown?: AccountId
  accounts: Record<AccountId, AccountView>
  settings: Settings
  savedSearches: Record<string, SavedSearch>
  /** Folders of this machine that can be run on a rented machine, by id. */
  projects: Record<string, ProjectView>
  /** Names of secrets that projects may use; their values are in the keychain. */
  projectSecrets: readonly string[]
  /** Where alerts are also sent, by id; their addresses are in the keychain. */
  relays: Record<string, RelayView>
  /** The newest entries by key; older ones are fetched with `searchActivity`. */
  activity: Record<string, ActivityEntry>
  /** Alerts for the page to show, where the desktop has no notifications, by id. */
  notices: Record<string, PageNotice>
  /** The end of the user's pause of polling: epoch milliseconds on this machine. */
  pausedUntil?: number
  /** Where a notification, the tray or a link sends the page; `id` is of this once, also after a restart. */
  goTo?: { id: string; place: Place }
  /** The demo's story: the step that is played, 0 after the end, and its text. */
  story?: { step: number; of: number; text: string }
  /** The state of an update of Berth; absent if no update address is set. */
  update?: UpdateView
}

export interface App {
  version: string
  /** Its runtime with versions, in one line. */
  runtime?: string
  shell: 'electron' | 'browser'
  platform: 'linux' | 'darwin' | 'win32'
  /** Why secrets do not outlive this session; absent if the OS keychain stores them. */
  keychainProblem?: string
  /** Whether native notifications work here. */
  notifications: boolean
  /** Whether the desktop shows tray icons; undefined in browser mode. */
  tray?: boolean
  /**
   * Whether the shortcut that shows Berth from any program works: `taken` by another program, or `impossible` in this
   * session. Undefined in browser mode, and without such keys.
   */
  globalShortcut?: 'works' | 'taken' | 'impossible'
  /** Whether a page has text that is not saved. */
  unsaved?: boolean
  /** Whether this machine can start Berth when the user logs in. */
  autostart?: boolean
  /** The path for the command `berth`, as people write it; absent where it cannot be installed. */
  commandFile?: string
  /** Terminal programs found on this machine. */
  terminals: readonly { id: string; name: string }[]
  /** Editors found on this machine that can open an instance. */
  editors: readonly { id: string; name: string }[]
}

/** A screen of the page, and its content. */
export type Place =
  | {
      screen: 'instances'
      instance?: number
      /** `logs` and `ports`: parts of the details. */
      tab?: DetailsTab | 'logs' | 'ports'
      /**
       * A dialog to open at once: a limit, a new bid, a replacement, to open a terminal, or the question before it is
       * stopped, started, restarted or destroyed.
       */
      ask?: 'limit' | 'bid' | 'replace' | 'terminal' | 'stop' | 'start' | 'reboot' | 'destroy'
    }
  /** `search` is run; `offer` opens the rent dialog for one of its offers, `again` for an earlier rental, by its id. */
  | { screen: 'offers'; search?: SavedQuery; offer?: number; again?: string }
  /** `entry`: one of its sweeps or runs, by its id. `ask` opens the sheet with the project's plan. */
  | { screen: 'projects'; project?: string; entry?: string; ask?: 'run' }
  | {
      screen:
        | 'home'
        | 'templates'
        | 'transfers'
        | 'activity'
        | 'spending'
        | 'hosting'
        | 'account'
        | 'settings'
    }
  /** A dialog over the present screen. */
  | { screen: 'here'; ask: 'palette' | 'connect' | 'shortcuts' | 'stopAll' | 'pause' }

/** One account on one service. */
export interface AccountView {
  id: AccountId
  name: string
  baseUrl: string
  demo: boolean
  /** Its service’s behaviour and limits, as far as its answers showed. */
  capabilities: Capabilities
  userId?: number
  email?: string
  credit?: Micros
  /** The service's last answer about the user had no credit. */
  creditUntold?: true
  /** When the credit was last read, epoch seconds of the account's time; absent while every poll reads it. */
  creditAt?: number
  tfaStatus?: string
  connection: ConnectionState
  /** Until when a request last waited because the service got too many: epoch milliseconds of this machine. */
  askedToWait?: number
  /** The address, without a password, of the proxy through which the service is asked. */
  proxy?: string
  /** What the key may not read, in a sentence; absent if polls can read everything. */
  limitation?: string
  /**
   * Why the list of instances is uncertain, in a sentence, and the ids of those that it lacks, which are shown as last
   * seen. Absent while the list is certain.
   */
  uncertain?: { reason: string; instances: readonly number[] }
  /** Its limits, rentals and runs aren't read yet. */
  opening?: boolean
  /** The number of unreadable records in the latest lists. */
  unread?: { offers?: number; templates?: number; apiKeys?: number; sshKeys?: number }
  /** Converts this machine's time to the account's. The rate is 1 except in the demo. */
  clock: AccountTime
  /** The present cost of all instances and volumes, micro-dollars per hour. */
  spendPerHour: Micros
  /** Its volumes, which are charged without an instance; absent without any, and where the service lists none. */
  volumes?: {
    count: number
    perHour: Micros
    /** Their names, or their numbers as names, and the machines that they are on. */
    names: readonly { id: number; name: string; machine?: number }[]
  }
  instances: Record<string, InstanceView>
  rentals: Record<string, RentalView>
  /** Actions that are sent in a moment unless undone, by the instance's id. */
  undoable: Record<string, UndoableView>
  /** Stops and destroys that were requested and that no fresh reading shows yet, by the instance's id. */
  endings: Record<string, EndingView>
  /** Deletions that were requested and that no later list shows yet: by `apiKey/4`, `volume/12`. */
  deletions: Record<string, DeletionView>
  /** By the limit's id. */
  limits: Record<string, LimitView>
  /** The setups of successful rentals, to rent them again: each once, the last one first. */
  pastRentals?: readonly PastRental[]
  /** Machines on which rentals failed, by machine id. */
  failedMachines: Record<string, FailedMachineView>
  /** By the instance's id; absent if Berth only alerts when it is outbid. */
  recoveries: Record<string, RecoveryView>
  /** Hosts' requests for higher prices, by the instance's id; empty where the service has none. */
  priceIncreases: Record<string, PriceIncreaseView>
  /** Maintenance that hosts have announced, by the instance's id; absent where the service has none. */
  maintenances?: Record<string, MaintenanceView>
  /** The user's own words about instances, by the instance's id. */
  notes: Record<string, InstanceNote>
  /** What agents, scripts and projects with caps have used, by spender. */
  spenders?: Record<Spender, SpenderView>
  /** What all machines use of the caps over everything; absent without such a cap. */
  everything?: EverythingUse
  /** Repeated searches, by id. */
  watches: Record<string, WatchView>
  /** By `tunnelKey`. */
  tunnels: Record<string, TunnelView>
  /** The SSH addresses of connected instances, by id. */
  ways: Record<string, WayIn>
  /** The instances that were seen with a host key that others have, too. */
  sharedHostKeys?: Record<string, true>
  /** The used GPU memory of connected instances in MiB, by id, as last read over SSH. */
  gpuMemory: Record<string, number>
  /** Watchdogs inside instances, by the instance's id. */
  watchdogs: Record<string, WatchdogView>
  /** Runs of commands on instances and of projects, by id. */
  runs: Record<string, RunView>
  /** Sweeps, by id. */
  sweeps: Record<string, SweepView>
  /** Machines that wait for the next run of their project, by the instance's id. */
  waiting: Record<string, WaitingMachineView>
  /** Copies and syncs that Berth started, by id. */
  transfers: Record<string, TransferView>
  /** File transfers between this machine and instances, by id. They end with Berth. */
  fileTransfers: Record<string, FileTransferView>
}

/** Where an SSH connection goes: `root@host:port`. */
export interface WayIn {
  direct: boolean
  address: string
}

/** Account time = `serverAt` + (local − `localAt`) × `rate`, in epoch milliseconds. Known after the first answer. */
export interface AccountTime {
  serverAt: number
  localAt: number
  rate: number
  /** Seconds by which the service's last answer told another time, where that is more than a minute. */
  strays?: number
}

/** When the service last answered: `since` in epoch seconds of the account's time. */
interface LastHeard {
  since?: number
  heardAt?: number | undefined
}

export type ConnectionState =
  /**
   * Waiting for the first answer. Data on screen, if any, is from an earlier session, at `since`, which by this machine's
   * clock was at `heardAt` (epoch milliseconds).
   */
  | ({ status: 'connecting' } & LastHeard)
  | { status: 'online' }
  /**
   * The service is unreachable, or its answer is no success; then `answered` is the HTTP status. Data on screen is
   * from `since`. Berth retries at `retryAt`, epoch milliseconds on this machine.
   */
  | ({ status: 'offline'; problem: Problem; answered?: number; retryAt?: number } & LastHeard)
  /** The key is invalid: polling stops until it is replaced. */
  | ({ status: 'refused'; problem: Problem } & LastHeard)
  /** The key is unavailable: lost from the keychain, or the keychain is locked. */
  | ({ status: 'locked'; problem: Problem } & LastHeard)

export interface SavedSearch {
  id: string
  name: string
  query: SavedQuery
}

export interface ActivityEntry {
  /** Sorts by time. */
  id: string
  /** Epoch milliseconds on this machine; the demo's time for its own. */
  at: number
  account?: AccountId
  instance?: number
  /** The rental that it is a step of. */
  rental?: string
  kind: 'user' | 'berth' | 'alert' | 'error'
  /** The agent or script that asked for it, in place of you. */
  by?: Spender
  /** An alert that is good news, such as that an instance is ready. */
  good?: true
  text: string
  detail?: string
}

export interface PageNotice {
  id: string
  /** Absent for an alert that concerns no account. */
  account?: AccountId
  /** The kind of alert, and the instance that it is about. */
  kind?: keyof Settings['alerts']
  instance?: number
  /** As of an entry of Activity. */
  at: number
  title: string
  body: string
  urgency: 'low' | 'normal' | 'critical'
  actions: readonly { id: string; label: string }[]
}

/** The state of an update of Berth. It is downloaded and installed only when the user says so. */
export type UpdateView =
  /** `at`: epoch milliseconds on this machine of the last check; absent before the first. */
  | { status: 'none'; at?: number }
  | { status: 'checking' }
  | { status: 'available'; version: string }
  /** `percent`: the downloaded part, a whole number. */
  | { status: 'fetching'; version: string; percent: number }
  /** Downloaded and checked; the user starts the installation. */
  | { status: 'ready'; version: string }
  | { status: 'failed'; problem: Problem }
