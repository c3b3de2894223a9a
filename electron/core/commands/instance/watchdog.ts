import type { watchdogCommands as declared } from '#contract/commands/instance/watchdog.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { mustBeAhead, tickOf } from '#core/limits/watchdog-decide.ts'
import { watchdogStartScript } from '#ssh/watchdog/start-script.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type WatchdogCommands = HandlersOf<typeof declared>

export function watchdogHandlers(parts: Parts): WatchdogCommands {
  const of = ({ account }: OnInstance) => parts.accounts.session(account).automations.watchdogs

  return {
    async putWatchdog({ request, ...args }) {
      const target = targetOf(parts, args)
      await of(args).put(args.instance, request)
      noteUser(parts, target.account, 'Asked for a watchdog on', target.instance)
    },
    async removeWatchdog(args) {
      const target = targetOf(parts, args)
      noteUser(parts, target.account, 'Took the watchdog off', target.instance)
      await of(args).remove(args.instance)
    },
    checkWatchdog: args => of(args).visit(args.instance),
    watchdogStartScript({ account, request }) {
      const { id, now } = parts.accounts.session(account)
      mustBeAhead(request, now())
      const url = parts.store.get().accounts[id]?.baseUrl ?? ''
      return watchdogStartScript(request, url, tickOf(request))
    },
    watchdogLog: args => of(args).log(args.instance),
  }
}
