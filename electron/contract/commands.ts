import type * as v from 'valibot'
import { accessCommands } from './commands/access.ts'
import { accountCommands } from './commands/accounts.ts'
import type { Command } from './commands/command.ts'
import { deskCommands } from './commands/desk.ts'
import { editorCommands } from './commands/editors.ts'
import { failoverCommands } from './commands/failover.ts'
import { fileCommands } from './commands/files.ts'
import { guardCommands } from './commands/guards.ts'
import { hostingCommands } from './commands/hosting.ts'
import { insideCommands } from './commands/inside.ts'
import { instanceCommands } from './commands/instances.ts'
import { keyCommands } from './commands/keys.ts'
import { moneyCommands } from './commands/money.ts'
import { notificationCommands } from './commands/notifications.ts'
import { offerCommands } from './commands/offers.ts'
import { recoveryCommands } from './commands/recovery.ts'
import { rentingCommands } from './commands/renting.ts'
import { runCommands } from './commands/runs.ts'
import { sshKeyCommands } from './commands/ssh-keys.ts'
import { templateCommands } from './commands/templates.ts'
import { transferCommands } from './commands/transfers.ts'
import { tunnelCommands } from './commands/tunnels.ts'
import { twoFactorCommands } from './commands/two-factor.ts'
import { upkeepCommands } from './commands/upkeep.ts'
import { watchdogCommands } from './commands/watchdog.ts'
import { watchCommands } from './commands/watches.ts'

/** Everything the page may ask for. Whatever carries a command, its argument is checked against the shape given here. */
export const commands = {
  ...accountCommands,
  ...offerCommands,
  ...rentingCommands,
  ...failoverCommands,
  ...recoveryCommands,
  ...watchCommands,
  ...templateCommands,
  ...moneyCommands,
  ...instanceCommands,
  ...watchdogCommands,
  ...runCommands,
  ...guardCommands,
  ...accessCommands,
  ...sshKeyCommands,
  ...insideCommands,
  ...tunnelCommands,
  ...editorCommands,
  ...deskCommands,
  ...keyCommands,
  ...twoFactorCommands,
  ...notificationCommands,
  ...transferCommands,
  ...hostingCommands,
  ...fileCommands,
  ...upkeepCommands,
} satisfies Record<string, Command>

export type Commands = typeof commands
export type CommandName = keyof Commands
/** What a caller gives. */
export type Args<Name extends CommandName> = v.InferInput<Commands[Name]['args']>
/** What a handler gets. */
export type Checked<Name extends CommandName> = v.InferOutput<Commands[Name]['args']>
export type Answer<Name extends CommandName> = Commands[Name] extends Command<infer _, infer A> ? A : never

/** Berth as its callers see it: one method per command. Rejects with a Problem inside a CommandError. */
export type Berth = { [Name in CommandName]: (args: Args<Name>) => Promise<Answer<Name>> }
