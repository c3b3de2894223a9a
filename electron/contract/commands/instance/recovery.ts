import { RecoveryChoice } from '../../automation/recovery.ts'
import { command, onInstance } from '../command.ts'

/** What Berth does by itself once an interruptible instance is outbid. */
export const recoveryCommands = {
  chooseRecovery: command({ ...onInstance, choice: RecoveryChoice }).answers<void>(),
}
