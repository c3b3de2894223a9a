import type { watchdogCommands as declared } from '#contract/commands/instance/watchdog.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { OnInstance, Parts } from '../parts.ts'

type WatchdogCommands = HandlersOf<typeof declared>

export function watchdogHandlers({ accounts }: Parts): WatchdogCommands {
  const of = ({ account }: OnInstance) => accounts.session(account).automations.watchdogs

  return {
    checkWatchdog: args => of(args).visit(args.instance),
    adoptWatchdog: args => of(args).adopt(args.instance),
    watchdogLog: args => of(args).log(args.instance),
  }
}
