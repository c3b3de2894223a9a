import { Account } from './account.ts'
import { ApiKeys, type Caller } from './api-keys.ts'
import { WorldClock } from './clock.ts'
import { EnvironmentVariables } from './environment.ts'
import { Machines, NetworkDisks, Workergroups } from './hosting.ts'
import { Deposits } from './instances/deposits.ts'
import { Instances } from './instances/instances.ts'
import { Overlays } from './instances/overlays.ts'
import { PriceIncreases } from './instances/price-increases.ts'
import { Ledger } from './ledger.ts'
import { Market } from './market/market.ts'
import { NotificationPreferences, Webhooks } from './notifications.ts'
import { ScheduledJobs } from './scheduled-jobs.ts'
import { Templates } from './templates/templates.ts'
import { Transfers } from './transfers.ts'
import { TwoFactor } from './two-factor/two-factor.ts'
import { Volumes } from './volumes.ts'

export interface WorldOptions {
  seed: number
  /** World seconds per real second. */
  speed: number
  offers: number
  /** When world time starts, milliseconds since 1970; default the real time. */
  start?: number | undefined
  /** No flaky hosts, no rivals. */
  calm: boolean
  /** The share of flaky machines, unless `calm`. */
  flaky: number
}

/** All state of the service, by subject. It lives in memory and knows no HTTP. */
export class World {
  readonly seed: number
  readonly clock: WorldClock
  readonly market: Market
  readonly ledger: Ledger
  readonly instances: Instances
  readonly account: Account
  readonly apiKeys: ApiKeys
  readonly twoFactor: TwoFactor
  readonly templates: Templates
  readonly preferences: NotificationPreferences
  readonly webhooks: Webhooks
  readonly transfers: Transfers
  readonly machines: Machines
  readonly networkDisks: NetworkDisks
  readonly workergroups: Workergroups
  readonly volumes: Volumes
  readonly overlays: Overlays
  readonly priceIncreases: PriceIncreases
  readonly deposits: Deposits
  readonly environment = new EnvironmentVariables()
  readonly scheduledJobs: ScheduledJobs
  /** Each instance's SSH port on loopback, also before it listens, by instance id. */
  readonly sshPorts = new Map<number, number>()

  constructor({ seed, speed, start, offers, calm, flaky }: WorldOptions) {
    this.seed = seed
    this.clock = new WorldClock(speed, start)
    this.market = new Market(seed, offers)
    this.ledger = new Ledger()
    this.account = new Account(seed, this.clock, this.ledger)
    const { market, ledger, account, clock } = this
    this.instances = new Instances({ seed, calm, flaky, clock, market, ledger, account })
    this.deposits = new Deposits(clock, ledger, account, this.instances)
    this.apiKeys = new ApiKeys(seed, this.clock, this.account)
    this.twoFactor = new TwoFactor(seed, this.account, this.clock)
    this.templates = new Templates(seed, this.clock, this.account.id)
    this.preferences = new NotificationPreferences()
    this.webhooks = new Webhooks(seed, this.clock)
    this.transfers = new Transfers(seed, this.clock, this.instances)
    this.machines = new Machines(seed, this.clock, this.market)
    this.networkDisks = new NetworkDisks(seed, this.clock)
    this.workergroups = new Workergroups(seed, this.clock)
    this.priceIncreases = new PriceIncreases(this.clock, this.instances)
    this.scheduledJobs = new ScheduledJobs(seed)
    this.overlays = new Overlays(this.market, this.instances)
    this.volumes = new Volumes(this)
  }

  /** The caller a key belongs to; undefined for a key that nobody issued or that was revoked. */
  caller(key: string): Caller | undefined {
    const instance = this.instances.list().find(({ apiKey }) => apiKey === key)
    const inside = instance && ({ kind: 'instance', key, instanceId: instance.id } as const)
    return this.apiKeys.caller(key) ?? inside ?? this.twoFactor.sessions.caller(key)
  }

  /** Carries out everything that is due by now. Called before every answer. */
  catchUp(): void {
    this.instances.catchUp()
    this.deposits.catchUp()
    this.transfers.catchUp()
  }
}
