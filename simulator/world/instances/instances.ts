import { invalidArgs, noSuchInstance, refusal } from '#simulator/errors.ts'
import type { Account } from '../account.ts'
import type { WorldClock } from '../clock.ts'
import { Draw, secret } from '../draw.ts'
import { Ledger, type Rates } from '../ledger.ts'
import type { Market } from '../market/market.ts'
import { type Instance, isDead, isOutbid, type Launch, ratesNow } from './instance.ts'
import { measure, trafficNow, trafficRates } from './load.ts'
import { bootPlan, canPull, deniedPlan, machineFate, machineRival, type Start } from './plan.ts'
import { actedAt, configInScript, placeWatchdog, restart } from './watchdog.ts'

/** The distance between the ids of an offer's successive instances: more than a catalogue's offers. */
const ID_STRIDE = 100_000

/** The amount by which a rival outbids, in micro-dollars per hour. */
const BID_STEP = 1000

/** Terms of deployments beyond the interface. */
export interface Terms {
  trafficCharged: boolean
  contractsEnd: boolean
  /** All instances stop once no credit is left. */
  creditNeeded: boolean
  /** An instance whose host is gone costs nothing. */
  goneIsFree: boolean
}

/** The parts of the world that decide about instances. */
interface Surroundings {
  seed: number
  /** No flaky hosts, no rivals. */
  calm: boolean
  /** The share of flaky machines, unless `calm`. */
  flaky: number
  clock: WorldClock
  market: Market
  ledger: Ledger
  account: Account
}

/** The account's instances, and the actions on them. */
export class Instances {
  readonly #world: Surroundings
  /** Counts KiB in the same way as money. */
  readonly #meter = new Ledger()
  #terms: Terms = { trafficCharged: false, contractsEnd: false, creditNeeded: false, goneIsFree: false }
  readonly #all = new Map<number, Instance>()
  readonly #firstId: number
  /** World milliseconds up to which everything due was carried out. */
  #caughtUp: number

  constructor(world: Surroundings) {
    this.#world = world
    this.#caughtUp = world.clock.now()
    this.#firstId = new Draw(world.seed, 'instance ids').integer(20_000_000, 29_000_000)
  }

  /** All of them, in the order of their creation. */
  list(): Instance[] {
    return [...this.#all.values()]
  }

  find(id: number): Instance | undefined {
    return this.#all.get(id)
  }

  /** Throws 404 `no_such_instance`. */
  get(id: number): Instance {
    const instance = this.find(id)
    if (!instance) throw noSuchInstance(id)
    return instance
  }

  /** Rents an offer. Throws 404 `no_such_ask`, 400 `bid_too_low` or 400 `invalid_args`. */
  create(offerId: number, launch: Launch, sshKeys: string[]): Instance {
    const offer = this.#world.market.rentable(offerId)
    if (launch.disk > offer.facts.disk_space) {
      throw invalidArgs(`disk: the offer has ${offer.facts.disk_space} GB.`)
    }
    const tooLow = launch.bid !== null && launch.bid < offer.minBid
    if (tooLow && launch.cancelUnavailable) {
      throw refusal(400, 'bid_too_low', 'The bid is below min_bid, and cancel_unavail was set.')
    }
    const now = this.#world.clock.now()
    const id = this.#firstId + offer.rentals * ID_STRIDE + offer.index
    const instance: Instance = {
      id,
      offer,
      launch,
      created: now,
      apiKey: secret(this.#world.seed, 'instance key', id),
      jupyterToken: secret(this.#world.seed, 'jupyter token', id),
      label: launch.label,
      bid: launch.bid,
      price: offer.price,
      discount: 0,
      storageCost: offer.facts.storage_cost,
      ends: now + offer.facts.duration * 1000,
      renewal: null,
      queued: false,
      diskUsed: null,
      minBid: offer.minBid,
      intended: launch.targetState,
      status: null,
      message: '',
      since: now,
      plan: [],
      boots: 0,
      pulled: false,
      watchdog: null,
      joinedSsh: null,
      sshKeys: [...sshKeys],
    }
    offer.rented = true
    offer.rentals += 1
    this.#all.set(id, instance)
    this.#resume(instance, now)
    return instance
  }

  /** Removes it and ends all its charges; its offer is on the market again. */
  destroy(instance: Instance, at = this.#world.clock.now()): void {
    this.#world.ledger.setRates(instance.id, at, null)
    this.#meter.setRates(instance.id, at, null)
    this.#all.delete(instance.id)
    instance.offer.rented = false
  }

  /** Starts or stops it. Asking for the present state changes nothing. */
  setState(instance: Instance, state: 'running' | 'stopped'): void {
    instance.intended = state
    instance.queued = false
    if (state === 'running' && (instance.status === 'running' || isBooting(instance))) return
    this.#resume(instance, this.#world.clock.now())
  }

  /** Queues its start until GPUs are free. */
  queue(instance: Instance): void {
    instance.intended = 'running'
    instance.queued = true
    if (instance.status !== 'stopped') this.#halt(instance, this.#world.clock.now(), 'Waits for free GPUs')
  }

  /** Starts all queued instances. */
  startQueued(): void {
    for (const instance of this.#all.values()) if (instance.queued) this.setState(instance, 'running')
  }

  /** Sets what a deployment charges, and what ends instances there. */
  setTerms(terms: Terms): void {
    this.#terms = terms
    for (const instance of this.#all.values()) this.#charge(instance, this.#world.clock.now())
  }

  /** Its cost in its present status, without traffic. */
  ratesNow(instance: Instance): Rates {
    return ratesNow(instance, this.#terms)
  }

  /** KiB sent and received so far. */
  traffic(instance: Instance): { upload: number; download: number } {
    const now = this.#world.clock.now()
    return {
      upload: this.#meter.amount(instance.id, 'upload', now),
      download: this.#meter.amount(instance.id, 'download', now),
    }
  }

  /** Restarts the container. Throws 400 `invalid_args` if it is stopped or outbid. */
  reboot(instance: Instance): void {
    if (instance.intended === 'stopped' || isOutbid(instance)) {
      throw invalidArgs('A stopped instance cannot be rebooted; start it.')
    }
    this.#boot(instance, this.#world.clock.now(), instance.pulled ? 'reboot' : 'first')
  }

  setDiscount(instance: Instance, discount: number): void {
    instance.discount = discount
    this.#charge(instance, this.#world.clock.now())
  }

  /** Changes the bid (micro-dollars per hour): enough resumes it, too little stops it. */
  setBid(instance: Instance, bid: number): void {
    if (instance.bid === null) throw invalidArgs('The instance is on-demand: it has no bid.')
    instance.bid = bid
    const halted = instance.status === 'stopped'
    const now = this.#world.clock.now()
    const mustStop = isOutbid(instance) && !halted && !isDead(instance)
    const mayStart = !isOutbid(instance) && halted && instance.intended === 'running'
    if (mustStop || mayStart) this.#resume(instance, now)
    else this.#charge(instance, now)
  }

  /** A rival outbids it. Throws 400 `invalid_args` for an on-demand instance. */
  outbid(instance: Instance): void {
    if (instance.bid === null) throw invalidArgs('The instance is on-demand: nobody can outbid it.')
    const bid = Math.max(instance.bid, instance.minBid)
    this.#rivalBids(instance, Math.ceil((bid * 1.1) / BID_STEP) * BID_STEP, this.#world.clock.now())
  }

  /** Forces a status, which stays until the next such call or a command. */
  force(instance: Instance, status: string | null): void {
    instance.plan = []
    if (status === 'running') instance.pulled = true
    this.#enter(instance, this.#world.clock.now(), status, '')
  }

  /** Carries out everything that is due by now. */
  catchUp(): void {
    const now = this.#world.clock.now()
    if (this.#terms.creditNeeded) {
      for (let at = this.#nextMoment(now); at < now; at = this.#nextMoment(now)) this.#carryOut(at)
    }
    this.#carryOut(now)
  }

  /** The next moment, `now` at the latest, at which charges may rise or credit runs out. */
  #nextMoment(now: number): number {
    const all = this.list()
    const rises = all.map(({ plan, renewal, ends }) =>
      Math.min(plan[0]?.at ?? now, renewal === null ? now : ends),
    )
    const until = Math.max(this.#caughtUp, Math.min(now, ...rises))
    if (all.every(isOver)) return until
    return outOfCreditAt(at => this.#world.account.creditAt(at), this.#caughtUp, until) ?? until
  }

  /** Carries out everything due by `now`. */
  #carryOut(now: number): void {
    for (const instance of this.#all.values()) {
      for (let step = instance.plan[0]; step && step.at <= now; step = instance.plan[0]) {
        instance.plan.shift()
        if ('rivalBid' in step) this.#rivalBids(instance, step.rivalBid, step.at)
        else this.#enter(instance, step.at, step.status, step.message)
      }
      if (this.#terms.contractsEnd) {
        if (instance.renewal && instance.ends <= now) this.#renew(instance, instance.renewal)
        if (instance.ends <= now) this.#end(instance, instance.ends, 'The contract is over')
      }
      this.#runWatchdog(instance, now)
    }
    if (this.#terms.creditNeeded && this.#world.account.creditAt(now) <= 0) {
      for (const instance of this.#all.values()) this.#end(instance, now, 'No credit is left')
    }
    this.#caughtUp = now
  }

  /** The start script installs the watchdog at the first boot; each later boot restarts its counting. */
  #startWatchdog(instance: Instance, at: number): void {
    const config = configInScript(instance.launch.onstart)
    if (!instance.watchdog && instance.boots === 1 && config !== undefined)
      instance.watchdog = placeWatchdog(config, '', at)
    else if (instance.watchdog) restart(instance.watchdog, at)
  }

  /** The watchdog acts at its due time, even if the clock has moved on further. */
  #runWatchdog(instance: Instance, now: number): void {
    const { watchdog } = instance
    if (!watchdog || instance.joinedSsh || instance.status !== 'running') return
    const at = actedAt(watchdog, now, time => measure(this.#world.seed, instance, time).gpuUtil)
    if (at === undefined) return
    if (watchdog.did?.action === 'destroy') {
      this.destroy(instance, at)
      return
    }
    instance.intended = 'stopped'
    this.#halt(instance, at, 'Stopped')
  }

  /** Boots it if it is meant to run and its bid is high enough; else stops it. */
  #resume(instance: Instance, now: number): void {
    if (instance.intended === 'stopped') this.#halt(instance, now, 'Stopped')
    else if (isOutbid(instance)) this.#halt(instance, now, outbidMessage(instance))
    else this.#boot(instance, now, instance.pulled ? 'again' : 'first')
  }

  #boot(instance: Instance, now: number, how: Start): void {
    const { machine_id } = instance.offer.facts
    const { seed, calm, flaky } = this.#world
    const fate = machineFate(seed, machine_id, calm ? 0 : flaky)
    const { image, registry } = instance.launch
    instance.boots += 1
    if (!canPull(image, registry)) {
      instance.plan = deniedPlan(fate, image, now)
      this.catchUp()
      return
    }
    instance.plan = bootPlan(fate, image, now, how)
    const rival = instance.bid === null || calm ? null : machineRival(seed, machine_id, instance.boots)
    if (rival) {
      const at = now + Math.round((fate.booted + rival.after) * 1000)
      const rivalBid = Math.ceil((instance.minBid * rival.factor) / BID_STEP) * BID_STEP
      instance.plan.push({ at, rivalBid })
      instance.plan.sort((left, right) => left.at - right.at)
    }
    this.catchUp()
  }

  #halt(instance: Instance, at: number, message: string): void {
    instance.plan = []
    this.#enter(instance, at, 'stopped', message)
  }

  #rivalBids(instance: Instance, rivalBid: number, at: number): void {
    instance.minBid = Math.max(instance.minBid, rivalBid)
    if (isOutbid(instance) && instance.intended === 'running' && !isDead(instance)) {
      this.#halt(instance, at, outbidMessage(instance))
    }
  }

  #enter(instance: Instance, at: number, status: string | null, message: string): void {
    if (instance.status !== status) instance.since = at
    if (status === 'running') {
      instance.pulled = true
      this.#startWatchdog(instance, at)
    }
    instance.status = status
    instance.message = message
    this.#charge(instance, at)
  }

  /** Renews the contract at the prices that its user has accepted. */
  #renew(instance: Instance, { factor, ends }: NonNullable<Instance['renewal']>): void {
    const began = instance.ends
    instance.price = Math.round(instance.price * factor)
    instance.storageCost *= factor
    instance.ends = ends
    instance.renewal = null
    this.#charge(instance, began)
  }

  /** Stops it as its user would. */
  #end(instance: Instance, at: number, message: string): void {
    instance.intended = 'stopped'
    instance.queued = false
    if (instance.status !== 'stopped') this.#halt(instance, at, message)
  }

  #charge(instance: Instance, at: number): void {
    const traffic = trafficNow(this.#world.seed, instance)
    this.#meter.setRates(instance.id, at, { gpu: 0, disk: 0, ...traffic })
    this.#world.ledger.setRates(instance.id, at, {
      ...this.ratesNow(instance),
      ...(this.#terms.trafficCharged ? trafficRates(instance, traffic) : {}),
    })
  }
}

/** As the interface's own words for it: with what would have been needed. */
function outbidMessage({ minBid }: Instance): string {
  return `Outbid: the minimum rose to $${(minBid / 1_000_000).toFixed(3)}/h`
}

function isOver({ status, intended }: Instance): boolean {
  return status === 'stopped' && intended === 'stopped'
}

function isBooting(instance: Instance): boolean {
  return instance.plan.some(step => 'status' in step && step.status === 'running')
}

/** The first moment from `from` to `until` (world milliseconds) without credit, which never rises meanwhile. */
export function outOfCreditAt(
  creditAt: (at: number) => number,
  from: number,
  until: number,
): number | undefined {
  if (creditAt(until) > 0) return undefined
  let [low, high] = [from, until]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (creditAt(middle) > 0) low = middle + 1
    else high = middle
  }
  return low
}
