import * as v from 'valibot'
import { FailoverId, FailoverLimits, FailoverSearch } from '../../automation/failover.ts'
import { RunRequest } from '../../automation/run.ts'
import { OpenRequest } from '../../market/rental.ts'
import { account, command, ServiceId } from '../command.ts'

const onFailover = { account, failover: FailoverId }

/** Renting with failover, and what becomes of it. */
export const failoverCommands = {
  /** Answers with the failover's id once the request is on disk; it goes on by itself and is told in State. */
  rentWithFailover: command({
    account,
    search: FailoverSearch,
    /** With a bid, that is the highest: each try bids just above the lowest that runs there. */
    request: OpenRequest,
    limits: FailoverLimits,
    /** What is run on the machine that is kept. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Ends it at whatever step; what it has created is destroyed. */
  cancelFailover: command(onFailover).answers<void>(),
  /** Takes one that has ended off the list. */
  dismissFailover: command(onFailover).answers<void>(),
  /** Forgets that a machine failed. */
  forgiveMachine: command({ account, machine: ServiceId }).answers<void>(),
}
