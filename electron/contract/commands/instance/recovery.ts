import { RecoveryChoice } from '../../automation/recovery.ts'
import { command, onInstance } from '../command.ts'

/** What Berth does by itself once an interruptible instance is outbid. */
export const recoveryCommands = {
  /** Throws `useless_ceiling` for a raise up to no more than is bid, or asked, already. */
  chooseRecovery: command({ ...onInstance, choice: RecoveryChoice }).answers<void>(),
}
