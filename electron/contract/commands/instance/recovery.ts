import { RecoveryChoice } from '#contract/automation/recovery.ts'
import { command, onInstance } from '../command.ts'

/** Berth's automatic reaction when an interruptible instance is outbid. */
export const recoveryCommands = {
  /** Throws `useless_ceiling` if a raise's ceiling is not above the present bid and the lowest that runs. */
  chooseRecovery: command({ ...onInstance, choice: RecoveryChoice }).answers<void>(),
}
