import * as v from 'valibot'
import { Limit, type LimitPreview, snoozes } from '#shared/automation/limit.ts'
import { RecoveryChoice } from '#shared/automation/recovery.ts'
import { ServiceId } from '#shared/fields.ts'
import { InstanceId, LimitId } from '#shared/ids.ts'
import { NoteTags, NoteText, UndoableAction } from '#shared/instance/instance.ts'
import { MachineReport } from '#shared/instance/machine-report.ts'
import {
  type ContainerLog,
  type FollowedLog,
  type LoadHistory,
  longestLoad,
  type MetricsHistory,
} from '#shared/instance/metrics.ts'
import { BidPrice } from '#shared/market/rental-bounds.ts'
import type { Problem } from '#shared/problem.ts'
import { type Deposit, type Prepaid, PrepaidAmount } from '#shared/spending/prepaying.ts'
import { account, command, onInstance } from './command.ts'

/** Actions on an instance. */
export const instanceCommands = {
  /** Sends the action in five seconds (`undoable` in State); answers once it was sent or undone. */
  actSoon: command({ ...onInstance, action: UndoableAction }).answers<void>(),
  /** Cancels an action of `actSoon` that was not sent yet; throws `not_undone` if there is none. */
  undoAction: command(onInstance).answers<void>(),
  /** These are sent at once. */
  stopInstance: command(onInstance).answers<void>(),
  startInstance: command(onInstance).answers<void>(),
  destroyInstance: command(onInstance).answers<void>(),
  renameInstance: command({
    ...onInstance,
    label: v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters')),
  }).answers<void>(),
  /** Reports its machine to the service. Throws `no_machine` where the record names none, and `not_supported`. */
  reportMachine: command({ ...onInstance, report: MachineReport }).answers<void>(),
  /** Keeps the user's own words about it, here alone; empty ones are removed. */
  noteInstance: command({ ...onInstance, note: NoteText, tags: NoteTags }).answers<void>(),
  changeBid: command({ ...onInstance, price: BidPrice }).answers<void>(), // dollars per hour, 0.001 to 32
  /** Pays dollars ahead for it, of the credit, at a discount. Throws `not_supported`, and `over_cap` before it is asked for. */
  prepayInstance: command({ ...onInstance, amount: PrepaidAmount }).answers<Prepaid>(),
  /** What destroying it now would pay back of that. */
  prepaidDeposit: command(onInstance).answers<Deposit>(),
  /**
   * Accepts or refuses its host's request for higher prices (`priceIncreases` in State). `changes`: the prices agreed to, as
   * `priceChanges` words them. Throws `price_changed` where the host asks for others by now.
   */
  acceptPriceIncrease: command({
    ...onInstance,
    increase: ServiceId,
    changes: v.pipe(v.array(v.string()), v.maxLength(10)),
  }).answers<void>(),
  refusePriceIncrease: command({ ...onInstance, increase: ServiceId }).answers<void>(),
  /** The service's whole record, unknown fields included, secrets masked. */
  instanceRecord: command(onInstance).answers<Record<string, unknown>>(),
}

/** Without `instance`, a limit on the whole account. */
const limitFields = {
  account,
  instance: v.optional(InstanceId),
  ...Limit.entries,
  asleep: v.optional(v.boolean(), false),
  /** The limit to replace. */
  limit: v.optional(LimitId),
  /** Keeps that one's condition and moment, whatever `when` says: a duration counts from when it was set. */
  sameWhen: v.optional(v.boolean()),
}

const onLimit = { account, limit: LimitId }

/** Limits, and stopping everything. */
export const limitCommands = {
  /** Answers its id once it is on disk. */
  setLimit: command({
    ...limitFields,
    /** Seconds ahead. */
    warning: v.pipe(
      v.number('enter the warning in minutes'),
      v.minValue(0),
      v.maxValue(86_400, 'at most a day ahead'),
    ),
    missed: v.picklist(['act', 'tell']),
  }).answers<string>(),
  previewLimit: command(limitFields).answers<LimitPreview>(),
  /**
   * A limit that is off does nothing and stays on the list; switched on again, its time restarts. Throws `limit_ended`.
   */
  switchLimit: command({ ...onLimit, on: v.boolean() }).answers<void>(),
  /**
   * Lets a watchdog on its instance do the same while this computer sleeps, or no longer. Throws `no_instance_key`,
   * `no_http_tool`, `gpu_load_unread`, `no_posix_shell` or `disk_full`, and `invalid_argument` where it cannot.
   */
  watchLimit: command({ ...onLimit, asleep: v.boolean() }).answers<void>(),
  removeLimit: command(onLimit).answers<void>(),
  /** Moves its moment by these minutes; null ends all snoozing. */
  snoozeLimit: command({ ...onLimit, minutes: v.nullable(v.picklist(snoozes)) }).answers<void>(),
  /**
   * Stops all instances that run or will, cancels rentals in progress, and pauses watches that rent. `failed`: the
   * names of those that could not be ended; `lacking`: the permission or the login that the key lacks, if that is why.
   */
  stopEverything: command({ account }).answers<{
    stopped: number
    cancelled: number
    failed: readonly string[]
    lacking?: Problem
  }>(),
}

/** Agents' machines. */
export const agentCommands = {
  /**
   * Stops all instances that agents rented, cancels their rentals, and lets agents only look from now on. `failed`: instances
   * that could not be stopped yet; Berth goes on.
   */
  stopAgents: command({ account }).answers<{
    stopped: readonly number[]
    cancelled: number
    failed: readonly number[]
  }>(),
}

/** The watchdog inside an instance, which keeps its limits while this machine sleeps. */
export const watchdogCommands = {
  /** Reads it now, which renews its lease, and installs one that is gone; also finds one that another Berth has installed. */
  checkWatchdog: command(onInstance).answers<void>(),
  /** Makes the watchdog of another Berth this one's, as limits on the instance. */
  adoptWatchdog: command(onInstance).answers<void>(),
  /** Its log, oldest first; `at` in epoch seconds of the account's time. */
  watchdogLog: command(onInstance).answers<readonly { at: number; text: string }[]>(),
}

/** Berth's automatic reaction when an interruptible instance is outbid. */
export const recoveryCommands = {
  /** Throws `useless_ceiling` if a raise's ceiling is not above the present bid and the lowest that runs. */
  chooseRecovery: command({ ...onInstance, choice: RecoveryChoice }).answers<void>(),
}

const minutes = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestLoad))

/** Metrics and logs of instances: over SSH while they are shown, or from the service. */
export const metricsCommands = {
  /** The load of all instances of an account in the last minutes. */
  instanceLoad: command({ account, minutes }).answers<LoadHistory>(),
  /** All metrics of one instance in the last minutes. */
  instanceMetrics: command({ ...onInstance, minutes }).answers<MetricsHistory>(),
  /** The metrics every few seconds while the stream is open: one `InstanceMetrics` as JSON on each line. */
  watchMetrics: command(onInstance).answers<{ stream: number }>(),
  /** Follows the start script's log, or another file of the instance. */
  followLog: command({
    ...onInstance,
    path: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.regex(/^\//, 'enter the path from the root, as /var/log/onstart.log'),
        v.maxLength(1024, 'at most 1024 characters'),
        v.regex(/^[^\p{Cc}]*$/u, 'without control characters'),
      ),
    ),
  }).answers<FollowedLog>(),
  /** The container's log, available before SSH is. Throws `not_supported` where the service has none. */
  readContainerLog: command({ ...onInstance, host: v.optional(v.boolean(), false) }).answers<ContainerLog>(),
}
