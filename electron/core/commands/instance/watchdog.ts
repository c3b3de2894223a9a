import { watchdogStartScript } from '../../../ssh/watchdog/start-script.ts'
import type { Handlers } from '../../app/page/dispatcher.ts'
import { mustBeAhead } from '../../guards/watchdog/ahead.ts'
import { tickOf } from '../../guards/watchdog/model.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type WatchdogCommands = Pick<
  Handlers,
  'putWatchdog' | 'removeWatchdog' | 'lookAtWatchdog' | 'watchdogLog' | 'watchdogStartScript'
>

export function watchdogCommands(parts: Parts): WatchdogCommands {
  const of = ({ account }: OnInstance) => parts.accounts.session(account).automations.watchdogs

  return {
    async putWatchdog({ wish, ...args }) {
      const target = targetOf(parts, args)
      await of(args).put(args.instance, wish)
      noteUser(parts, target.account, 'Asked for a watchdog on', target.instance)
    },
    async removeWatchdog(args) {
      const target = targetOf(parts, args)
      noteUser(parts, target.account, 'Took the watchdog off', target.instance)
      await of(args).remove(args.instance)
    },
    lookAtWatchdog: args => of(args).visit(args.instance),
    watchdogStartScript({ account, wish }) {
      const { id, now } = parts.accounts.session(account)
      mustBeAhead(wish, now())
      const url = parts.store.get().accounts[id]?.baseUrl ?? ''
      return watchdogStartScript(wish, url, tickOf(wish))
    },
    watchdogLog: args => of(args).log(args.instance),
  }
}
