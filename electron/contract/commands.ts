import type * as v from 'valibot'
import { accountCommands } from './commands/account/accounts.ts'
import { hostingCommands } from './commands/account/hosting.ts'
import { keyCommands } from './commands/account/keys.ts'
import { moneyCommands } from './commands/account/money.ts'
import { notificationCommands } from './commands/account/notifications.ts'
import { sshKeyCommands } from './commands/account/ssh-keys.ts'
import { transferCommands } from './commands/account/transfers.ts'
import { twoFactorCommands } from './commands/account/two-factor.ts'
import { volumeCommands } from './commands/account/volumes.ts'
import { appCommands } from './commands/app/app.ts'
import { updateCommands } from './commands/app/updates.ts'
import type { Command } from './commands/command.ts'
import { accessCommands } from './commands/instance/access.ts'
import { editorCommands } from './commands/instance/editors.ts'
import { fileCommands } from './commands/instance/files.ts'
import { instanceCommands } from './commands/instance/instances.ts'
import { limitCommands } from './commands/instance/limits.ts'
import { metricsCommands } from './commands/instance/metrics.ts'
import { recoveryCommands } from './commands/instance/recovery.ts'
import { runCommands } from './commands/instance/runs.ts'
import { tunnelCommands } from './commands/instance/tunnels.ts'
import { watchdogCommands } from './commands/instance/watchdog.ts'
import { offerCommands } from './commands/market/offers.ts'
import { rentingCommands } from './commands/market/renting.ts'
import { templateCommands } from './commands/market/templates.ts'
import { watchCommands } from './commands/market/watches.ts'
import { projectCommands } from './commands/project/projects.ts'

/** All commands of the page. Their arguments are checked against these shapes, over every transport. */
export const commands = {
  ...accountCommands,
  ...offerCommands,
  ...rentingCommands,
  ...recoveryCommands,
  ...watchCommands,
  ...templateCommands,
  ...moneyCommands,
  ...instanceCommands,
  ...watchdogCommands,
  ...runCommands,
  ...projectCommands,
  ...limitCommands,
  ...accessCommands,
  ...sshKeyCommands,
  ...metricsCommands,
  ...tunnelCommands,
  ...editorCommands,
  ...appCommands,
  ...keyCommands,
  ...twoFactorCommands,
  ...notificationCommands,
  ...volumeCommands,
  ...transferCommands,
  ...hostingCommands,
  ...fileCommands,
  ...updateCommands,
} satisfies Record<string, Command>

export type Commands = typeof commands
export type CommandName = keyof Commands
/** The arguments as the caller passes them. */
export type Args<Name extends CommandName> = v.InferInput<Commands[Name]['args']>
export type Answer<Name extends CommandName> = Commands[Name] extends Command<infer _, infer A> ? A : never

/**
 * Berth as its callers see it: one method per command. Rejects with a CommandError that holds a Problem. `withdrawn` is
 * aborted once the answer is no longer needed.
 */
export type Berth = {
  [Name in CommandName]: (args: Args<Name>, withdrawn?: AbortSignal) => Promise<Answer<Name>>
}
