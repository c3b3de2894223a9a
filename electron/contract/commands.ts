import type * as v from 'valibot'
import { accessCommands, editorCommands, fileCommands, tunnelCommands } from './commands/access.ts'
import {
  accountCommands,
  hostingCommands,
  keyCommands,
  moneyCommands,
  notificationCommands,
  recordCommands,
  sshKeyCommands,
  transferCommands,
  twoFactorCommands,
  variableCommands,
  volumeCommands,
} from './commands/account.ts'
import { appCommands, updateCommands } from './commands/app.ts'
import type { Command } from './commands/command.ts'
import {
  agentCommands,
  instanceCommands,
  limitCommands,
  metricsCommands,
  recoveryCommands,
  watchdogCommands,
} from './commands/instances.ts'
import { offerCommands, rentingCommands, templateCommands, watchCommands } from './commands/market.ts'
import { projectCommands, runCommands, sweepCommands } from './commands/projects.ts'
import { relayCommands } from './commands/relays.ts'

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
  ...sweepCommands,
  ...projectCommands,
  ...limitCommands,
  ...agentCommands,
  ...accessCommands,
  ...sshKeyCommands,
  ...metricsCommands,
  ...tunnelCommands,
  ...editorCommands,
  ...appCommands,
  ...keyCommands,
  ...twoFactorCommands,
  ...notificationCommands,
  ...variableCommands,
  ...recordCommands,
  ...volumeCommands,
  ...transferCommands,
  ...hostingCommands,
  ...fileCommands,
  ...relayCommands,
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
