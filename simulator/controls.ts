import { type Deployment, type Profile, ProfileError } from './deployment.ts'
import type { Doors } from './doors.ts'
import { invalidArgs } from './errors.ts'
import { Fields } from './fields.ts'
import { type FaultInput, type Faults, readFaultRules } from './http/faults.ts'
import type { LoggedRequest, RequestLog } from './http/request-log.ts'
import type { Results } from './results.ts'
import { instanceRecord } from './routes/instance-record.ts'
import type { AccountState, Message } from './world/account/account.ts'
import { epochSeconds } from './world/clock.ts'
import type { Charge, Total } from './world/ledger.ts'
import { dollars } from './world/money.ts'
import type { World } from './world/world.ts'

/** The account's ledger at a moment: `now` in epoch seconds, `credit` in dollars. */
export interface Ledger {
  now: number
  credit: number
  micro_dollars: number
  instances: Total[]
  charges: Charge[]
}

/**
 * Controls of the world: the control plane over HTTP and the demo's menu call the same functions. All throw a
 * ServiceError (400 `invalid_args`, 404 `no_such_instance`) for invalid arguments.
 */
export interface Controls {
  /** Moves world time forward; resolves with the time then, in epoch seconds. */
  advance(seconds: number): Promise<{ now: number }>
  /** Forces a status, which stays until the next such call or a command on the instance. */
  forceStatus(instanceId: number, status: string | null): Promise<void>
  /** Sets an instance's used disk in GB, the end of its contract in epoch seconds, and its SSH's address. */
  setInstance(
    instanceId: number,
    facts: { diskUsage?: number; endDate?: number; ssh?: { host: string; port: number } },
  ): void
  /** Lets a host ask for `factor` times the price; gives the increase's id. */
  askPriceIncrease(instanceId: number, factor: number): number
  /** Changes the given states, and gives all of them. */
  setAccount(changes: Partial<AccountState>): AccountState
  /** A rival outbids an interruptible instance. */
  outbid(instanceId: number): Promise<void>
  /** Sets the account's credit, in dollars. */
  setCredit(credit: number): void
  /** Pays in so many dollars. */
  topUp(amount: number): void
  /** Changes the given values of the deployment's profile. Gives the whole profile. */
  setDeployment(values: Readonly<Record<string, unknown>>): Profile
  /** Replaces the fault rules. */
  setFaults(rules: readonly FaultInput[]): void
  /** Issues a `tfa_secret`, as a login in a browser does. */
  issueTfaSecret(): string
  ledger(): Ledger
  /** All instances in the interface's form, whatever the deployment in force. */
  instances(): Record<string, unknown>[]
  /** Oldest first. */
  outbox(): Message[]
  /** Oldest first. */
  requests(): LoggedRequest[]
}

/** The parts of a simulator that its controls reach. */
export interface Parts {
  world: World
  deployment: Deployment
  doors: Doors
  faults: Faults
  log: RequestLog
  results: Results
}

/** The furthest world time can be moved in one call: a year. */
const FURTHEST = 366 * 86_400

export function createControls({ world, deployment, doors, faults, log }: Parts): Controls {
  return {
    async advance(seconds) {
      const value = new Fields({ advance: seconds }).number('advance')
      if (value < 0 || value > FURTHEST) throw new Fields({}).refuse(`advance must be from 0 to ${FURTHEST}.`)
      world.clock.advance(value)
      world.catchUp()
      await doors.follow()
      return { now: epochSeconds(world.clock.now()) }
    },
    async forceStatus(instanceId, status) {
      world.catchUp()
      const fields = new Fields({ actual_status: status })
      const checked = status === null ? null : fields.string('actual_status')
      world.instances.force(world.instances.get(instanceId), checked)
      await doors.follow()
    },
    setInstance(instanceId, { diskUsage, endDate, ssh }) {
      world.catchUp()
      const instance = world.instances.get(instanceId)
      if (diskUsage !== undefined) instance.diskUsed = diskUsage
      if (endDate !== undefined) instance.ends = Math.round(endDate * 1000)
      if (ssh) instance.joinedSsh = ssh
      world.catchUp()
    },
    askPriceIncrease(instanceId, factor) {
      if (!(factor > 1) || factor > 100) throw invalidArgs('factor is above 1 and at most 100.')
      world.catchUp()
      return world.priceIncreases.ask(world.instances.get(instanceId), factor).id
    },
    setAccount(changes) {
      Object.assign(world.account.state, readAccountState(new Fields({ ...changes })))
      return { ...world.account.state }
    },
    async outbid(instanceId) {
      world.catchUp()
      world.instances.outbid(world.instances.get(instanceId))
      await doors.follow()
    },
    setCredit(credit) {
      const value = new Fields({ credit }).number('credit')
      if (Math.abs(value) > 1_000_000_000) throw new Fields({}).refuse('credit is too large.')
      world.catchUp()
      world.account.setCredit(value)
    },
    topUp(amount) {
      const value = new Fields({ amount }).number('amount')
      if (value <= 0 || value > 1_000_000)
        throw new Fields({}).refuse('amount is from 0 to 1,000,000 dollars.')
      world.catchUp()
      world.account.topUp(value)
    },
    setDeployment(values) {
      try {
        const profile = deployment.change(values)
        followProfile(world, profile)
        return profile
      } catch (error) {
        if (error instanceof ProfileError) throw invalidArgs(error.message)
        throw error
      }
    },
    setFaults: rules => faults.replace(readFaultRules(rules)),
    issueTfaSecret: () => world.account.issueTfaSecret(),
    ledger() {
      world.catchUp()
      const now = world.clock.now()
      return {
        now: epochSeconds(now),
        credit: dollars(world.account.creditAt(now)),
        micro_dollars: world.ledger.total(now),
        instances: world.ledger.totals(now),
        charges: world.ledger.charges(now),
      }
    },
    instances() {
      world.catchUp()
      return world.instances.list().map(instance => instanceRecord(world, instance))
    },
    outbox: () => [...world.account.messages],
    requests: () => log.list(),
  }
}

/** Applies what a deployment charges and allows to the world. */
export function followProfile(world: World, { deployment, start, rent }: Profile): void {
  world.catchUp()
  const isPublic = deployment === 'public'
  world.instances.setTerms({
    trafficCharged: isPublic,
    contractsEnd: isPublic,
    creditNeeded: isPublic,
    goneIsFree: isPublic,
  })
  if (start === 'boots' && rent !== 'queued') world.instances.startQueued()
}

function readAccountState(fields: Fields): Partial<AccountState> {
  const changes: Partial<AccountState> = {}
  for (const name of Object.keys(fields.values)) {
    switch (name) {
      case 'email_verified':
      case 'legacy':
      case 'team':
      case 'sms_fraud':
      case 'cache_down':
      case 'permissions_disabled':
        changes[name] = fields.boolean(name)
        break
      case 'blocked_numbers':
        changes[name] = fields.strings(name)
        break
      case 'email':
      case 'phone_number':
        changes[name] = fields.values[name] === null ? null : fields.string(name)
        break
      default:
        throw fields.refuse(`The account has no state ${name}.`)
    }
  }
  return changes
}
