import type { TransferView } from './account/transfer.ts'
import type { DetailsTab, Settings } from './app/settings.ts'
import type { UpdateView } from './app/update.ts'
import type { AttemptSeriesView, FailedMachineView } from './automation/attempts.ts'
import type { GuardView } from './automation/guard.ts'
import type { RentalStop } from './automation/guard-kinds.ts'
import type { RecoveryView } from './automation/recovery.ts'
import type { RunView } from './automation/run.ts'
import type { UndoableView } from './automation/undoable.ts'
import type { WatchView } from './automation/watch.ts'
import type { WatchdogView } from './automation/watchdog.ts'
import type { AccountId } from './ids.ts'
import type { FileTransferView } from './instance/files.ts'
import type { InstanceView } from './instance/instance.ts'
import type { TunnelView } from './instance/tunnel.ts'
import type { SavedQuery } from './market/offer.ts'
import type { RentalView } from './market/rental.ts'
import type { Problem } from './problem.ts'
import type { JobView, ProjectView } from './project/project.ts'
import type { Micros } from './spending/money.ts'
import type { PriceIncreaseView } from './spending/price-increase.ts'

/** All that the page and the tray know. Both are functions of it; neither keeps a truth of its own. */
export interface State {
  app: App
  /** The account that is shown; undefined only while none exists. */
  shown?: AccountId
  accounts: Record<AccountId, AccountView>
  settings: Settings
  savedSearches: Record<string, SavedSearch>
  /** Folders of this machine that can be run on a rented one, by id. */
  projects: Record<string, ProjectView>
  /** Names of secrets that projects may use; their values are in the keychain. */
  projectSecrets: readonly string[]
  /** The newest entries by key; older ones are fetched with `searchActivity`. */
  activity: Record<string, ActivityEntry>
  /** Alerts for the page to show, where the desktop has no notifications, by id. */
  notices: Record<string, PageNotice>
  /** Until when no account is polled, since the user wants it so: epoch milliseconds on this machine. */
  pausedUntil?: number
  /** Where the page was asked to go, by a notification, the tray or a link; `sequence` tells a repeat. */
  goTo?: { sequence: number; place: Place }
  /** The demo's story: which of its steps is played, 0 once it is over, and what happens in it. */
  story?: { step: number; of: number; text: string }
  /** How an update of Berth stands; absent where no update address is set. */
  update?: UpdateView
}

export interface App {
  version: string
  /** What it runs on, with versions, in a line. */
  runtime?: string
  /** How Berth runs: as a desktop app, or as a page in a browser. */
  shell: 'electron' | 'browser'
  platform: 'linux' | 'darwin' | 'win32'
  /** Why secrets do not outlive this session; absent when the OS keychain keeps them. */
  keychainProblem?: string
  /** Whether native notifications can be shown here. */
  notifications: boolean
  /** Whether the desktop shows tray icons; undefined in browser mode, which has none. */
  tray?: boolean
  /** Whether this machine can start Berth when the user logs in. */
  autostart?: boolean
  /** Where the command `berth` would be put for shells, as people read it; absent where that cannot be. */
  commandFile?: string
  /** Terminal programs found on this machine. */
  terminals: readonly { id: string; name: string }[]
  /** Editors found on this machine that can open an instance. */
  editors: readonly { id: string; name: string }[]
}

/** A screen of the page, and what to show on it. */
export type Place =
  | {
      screen: 'instances'
      instance?: number
      tab?: DetailsTab
      /**
       * A question to put to the user at once: a new bid, another offer in its place, whether to destroy it, to get in,
       * or to start it although a guard stops it.
       */
      ask?: 'bid' | 'replace' | 'destroy' | 'terminal' | 'start'
    }
  /** With `search` that search is made, with `offer` the dialog to rent that one of them is opened; with `again` the dialog to rent as in an earlier rental, by its id, is opened. */
  | { screen: 'offers'; search?: SavedQuery; offer?: number; again?: string }
  /** With `ask` the sheet is opened that shows what a run of the project would be, and asks. */
  | { screen: 'projects'; project?: string; ask?: 'run' }
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
  /** Whatever screen is shown, with a dialog over it. */
  | { screen: 'here'; ask: 'palette' | 'connect' | 'shortcuts' | 'stopAll' | 'pause' }

/** One account on one service. */
export interface AccountView {
  id: AccountId
  name: string
  baseUrl: string
  demo: boolean
  /** Whether its deployment is known to go beyond the interface, such as by runtypes with a direct way. */
  beyondInterface?: boolean
  userId?: number
  email?: string
  credit?: Micros
  /** When the credit was told last, epoch seconds of the account's time; absent while every poll tells it. */
  creditAt?: number
  tfaStatus?: string
  connection: Connection
  /** What the key may not see, in a sentence; absent when it may see all that is polled. */
  limitation?: string
  /**
   * Why the list of instances is not certain, in a sentence, and which of those shown, or rented, are as they were seen
   * last since nothing was told of them. Absent while the list is certain.
   */
  uncertain?: { reason: string; instances: readonly number[] }
  /** How many records of these lists could not be read when they were asked for last. */
  unread?: { offers?: number; templates?: number; apiKeys?: number; sshKeys?: number }
  /** What to add to this machine's epoch milliseconds to get the account's, and how fast its time runs (1 but in the demo). */
  clock: AccountTime
  /** Micro-dollars per hour, all instances together, as things are now. */
  spendPerHour: Micros
  instances: Record<string, InstanceView>
  rentals: Record<string, RentalView>
  /** What instances are told in a moment, unless it is undone, by the instance's id. */
  undoable: Record<string, UndoableView>
  /** What Berth stops or destroys by itself, and when, by the guard's id. */
  guards: Record<string, GuardView>
  /** What was rented last, to be rented again, and what was chosen to stop it. */
  lastRental?: { id: string; what: string; stops: readonly RentalStop[] }
  /** By id. */
  attempts: Record<string, AttemptSeriesView>
  /** Machines on which attempts came to nothing, by machine id. */
  failedMachines: Record<string, FailedMachineView>
  /** What Berth does once an interruptible instance is outbid, by its id; absent where it only tells. */
  recoveries: Record<string, RecoveryView>
  /** Higher prices that hosts ask for, by the instance's id; empty where the service has no such thing. */
  priceIncreases: Record<string, PriceIncreaseView>
  /** Searches that are made again and again, by id. */
  watches: Record<string, WatchView>
  /** By `tunnelKey`. */
  tunnels: Record<string, TunnelView>
  /** How the instances are reached that are connected now, by id. */
  ways: Record<string, WayIn>
  /** MiB of their GPUs' memory that connected instances use, by id, as they told last over SSH. */
  gpuMemory: Record<string, number>
  /** Watchdogs inside instances, by the instance's id. */
  watchdogs: Record<string, WatchdogView>
  /** Commands that go on by themselves, by id. */
  runs: Record<string, RunView>
  /** Runs of projects, from a folder to its results, by id. */
  jobs: Record<string, JobView>
  /** Copies and syncs that Berth started, by id. */
  transfers: Record<string, TransferView>
  /** Files on their way between this machine and instances, by id. They end with Berth. */
  fileTransfers: Record<string, FileTransferView>
}

/** Where an SSH connection goes: `root@host:port`. */
export interface WayIn {
  direct: boolean
  address: string
}

/** Account time = `serverAt` + (local − `localAt`) × `rate`. All in epoch milliseconds. Known once the service has answered. */
export interface AccountTime {
  serverAt: number
  localAt: number
  rate: number
}

export type Connection =
  /** First answer awaited; what is shown, if anything, is from an earlier session, as old as `since`. */
  | { status: 'connecting'; since?: number }
  | { status: 'online' }
  /**
   * Not seen: it cannot be reached, or does not answer well; then `answered` is the HTTP status. What is shown is as
   * old as `since`, account time in epoch seconds; the next try is under way by itself.
   */
  | { status: 'offline'; since?: number; problem: Problem; answered?: number }
  /** The key is wrong or revoked: polling has stopped until it is replaced. */
  | { status: 'refused'; since?: number; problem: Problem }
  /** The key is not at hand: lost from the keychain, or the keychain is locked. */
  | { status: 'locked'; since?: number; problem: Problem }

export interface SavedSearch {
  id: string
  name: string
  query: SavedQuery
}

export interface ActivityEntry {
  /** Grows with time, so that sorting by it is sorting by age. */
  id: string
  /** Epoch milliseconds on this machine. */
  at: number
  account?: AccountId
  instance?: number
  kind: 'user' | 'berth' | 'alert' | 'error'
  text: string
  detail?: string
}

export interface PageNotice {
  id: string
  /** Whose alert it is; absent for one of Berth's own. */
  account?: AccountId
  at: number
  title: string
  body: string
  urgency: 'low' | 'normal' | 'critical'
  actions: readonly { id: string; label: string }[]
}
