import type { Limit } from '#shared/automation/limit.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { StoreOrder } from '#ssh/runs/runs.ts'
import type { ProjectRun, Run } from './model.ts'

/** Machines of one cluster, one for each node, and their prices per hour. */
export interface ClusterChoice {
  cluster: number
  offers: readonly { offer: OfferView; price: Micros }[]
}

type NodeNetwork = NonNullable<NonNullable<Run['node']>['network']>

/** The part of projects that their runs need. */
export interface RunProjects {
  /** Rents a machine by the run's rental, for a node in their network. Does nothing if that exists. */
  rent(run: ProjectRun, network?: NodeNetwork): Promise<void>
  /** Whether an offer fits a run now, and what the cheapest costs otherwise, in micro-dollars per hour. */
  seek(run: ProjectRun): Promise<{ fits: boolean; cheapest?: Micros }>
  /** Machines of one cluster for all nodes of a run. Throws `no_cluster` or `no_network`. */
  chooseCluster(run: ProjectRun, refused: readonly number[]): Promise<ClusterChoice>
  /** The environment's values, secret ones included. Throws `secret_missing`. */
  environmentOf(run: ProjectRun): Promise<Readonly<Record<string, string>>>
  /** Where the machine stores the results, if its file says so. Throws `secret_missing`. */
  storeFor(run: ProjectRun): Promise<Omit<StoreOrder, 'run' | 'folder' | 'restores'> | undefined>
  commitOf(folder: string): Promise<Run['commit']>
  /** Copies the file's cloud data to the machine. Throws `cloud_copy_failed`. */
  copyFromClouds(run: ProjectRun, folder: string, signal: AbortSignal): Promise<void>
  /** Copies the results from the machine to the file's cloud, if any. Throws `cloud_copy_failed`. */
  copyToCloud(run: ProjectRun, folder: string, signal: AbortSignal): Promise<void>
}

/** The part of sweeps that their runs need. */
export interface RunSweeps {
  /** Whether one of a project, other than `except`, has runs in progress or to come. */
  isBusy(project: string, except?: string): boolean
  /** The limits of a run's machine: in a sweep, its share of what is left of the whole. */
  limitsOf(run: ProjectRun): readonly Limit[]
  /** Whether one has cost all that it may, the disks of its stopped machines included. */
  isSpent(sweep: string): boolean
  /** The variables of the environment that differ from run to run. */
  settingOf(run: ProjectRun): Readonly<Record<string, string>>
}
