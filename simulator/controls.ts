import { type Deployment, type Profile, ProfileError } from './deployment.ts'
import type { Doors } from './doors.ts'
import { invalidArgs } from './errors.ts'
import { Fields } from './fields.ts'
import { type FaultInput, type Faults, readFaultRules } from './http/faults.ts'
import type { LoggedRequest, RequestLog } from './http/request-log.ts'
import type { Results } from './results.ts'
import { instanceRecord } from './routes/instance-record.ts'
import type { AccountState, Message } from './world/account.ts'
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

/**
 * Controls of the world: the control plane over HTTP and the demo's menu call the same functions. All throw a
 * ServiceError (400 `invalid_args`, 404 `no_such_instance`) for invalid arguments.
 */
export function createControls({ world, deployment, doors, faults, log }: Parts) {
  return {
    /** Moves world time forward; resolves with the time then, in epoch seconds. */
    async advance(seconds: number): Promise<{ now: number }> {
      const value = new Fields({ advance: seconds }).number('advance')
      if (value < 0 || value > FURTHEST) throw new Fields({}).refuse(`advance must be from 0 to ${FURTHEST}.`)
      world.clock.advance(value)
      world.catchUp()
      await doors.follow()
      return { now: epochSeconds(world.clock.now()) }
    },
    /** Forces a status, which stays until the next such call or a command on the instance. */
    async forceStatus(instanceId: number, status: string | null): Promise<void> {
      world.catchUp()
      const fields = new Fields({ actual_status: status })
      const checked = status === null ? null : fields.string('actual_status')
      world.instances.force(world.instances.get(instanceId), checked)
      await doors.follow()
    },
    /** Sets an instance's used disk in GB, the end of its contract in epoch seconds, and its SSH's address. */
    setInstance(
      instanceId: number,
      facts: {
        diskUsage?: number
        endDate?: number
        ssh?: { host: string; port: number; hasDisk?: boolean }
      },
    ): void {
      const { diskUsage, endDate, ssh } = facts
      world.catchUp()
      const instance = world.instances.get(instanceId)
      if (diskUsage !== undefined) instance.diskUsed = diskUsage
      if (endDate !== undefined) instance.ends = Math.round(endDate * 1000)
      if (ssh) instance.joinedSsh = ssh
      world.catchUp()
    },
    /** Lets a host ask for `factor` times the price; gives the increase's id. */
    askPriceIncrease(instanceId: number, factor: number): number {
      if (!(factor > 1) || factor > 100) throw invalidArgs('factor is above 1 and at most 100.')
      world.catchUp()
      return world.priceIncreases.ask(world.instances.get(instanceId), factor).id
    },
    /** Lets an instance's host announce maintenance, in seconds from now. */
    announceMaintenance(instanceId: number, seconds: number, hours: number, category = 'other'): void {
      if (!(seconds >= 0) || !(hours > 0)) throw invalidArgs('start_in is at least 0, hours above 0.')
      world.catchUp()
      const machine = world.instances.get(instanceId).offer.facts.machine_id
      world.machines.announce(machine, seconds, hours, category)
    },
    /** Changes the given states, and gives all of them. */
    setAccount(changes: Partial<AccountState>): AccountState {
      const { state } = world.account
      return { ...Object.assign(state, readAccountState(new Fields({ ...changes }), state)) }
    },
    /** A rival outbids an interruptible instance. */
    async outbid(instanceId: number): Promise<void> {
      world.catchUp()
      world.instances.outbid(world.instances.get(instanceId))
      await doors.follow()
    },
    /** Sets the account's credit, in dollars. */
    setCredit(credit: number): void {
      const value = new Fields({ credit }).number('credit')
      if (Math.abs(value) > 1_000_000_000) throw new Fields({}).refuse('credit is too large.')
      world.catchUp()
      world.account.setCredit(value)
    },
    /** Pays in so many dollars. */
    topUp(amount: number): void {
      const value = new Fields({ amount }).number('amount')
      if (value <= 0 || value > 1_000_000)
        throw new Fields({}).refuse('amount is from 0 to 1,000,000 dollars.')
      world.catchUp()
      world.account.topUp(value)
    },
    /** Changes the given values of the deployment's profile. Gives the whole profile. */
    setDeployment(values: Readonly<Record<string, unknown>>): Profile {
      try {
        const profile = deployment.change(values)
        followProfile(world, profile)
        return profile
      } catch (error) {
        if (error instanceof ProfileError) throw invalidArgs(error.message)
        throw error
      }
    },
    /** Replaces the fault rules. */
    setFaults: (rules: readonly FaultInput[]): void => faults.replace(readFaultRules(rules)),
    /** Issues a `tfa_secret`, as a login in a browser does. */
    issueTfaSecret: (): string => world.account.issueTfaSecret(),
    ledger(): Ledger {
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
    /** All instances in the interface's form, whatever the deployment in force. */
    instances(): Record<string, unknown>[] {
      world.catchUp()
      return world.instances.list().map(instance => instanceRecord(world, instance))
    },
    /** Oldest first. */
    outbox: (): Message[] => [...world.account.messages],
    /** Oldest first. */
    requests: (): LoggedRequest[] => log.list(),
  }
}

export type Controls = ReturnType<typeof createControls>

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

function readAccountState(fields: Fields, known: AccountState): Partial<AccountState> {
  const read = Object.keys(fields.values).map(name => {
    if (!Object.hasOwn(known, name)) throw fields.refuse(`The account has no state ${name}.`)
    if (name === 'blocked_numbers') return [name, fields.strings(name)]
    if (name !== 'email' && name !== 'phone_number') return [name, fields.boolean(name)]
    return [name, fields.values[name] === null ? null : fields.string(name)]
  })
  return Object.fromEntries(read)
}
