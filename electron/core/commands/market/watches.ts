import type { watchCommands as declared } from '#contract/commands/market/watches.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { checkLengths } from '#core/renting/requests.ts'
import { newRunOf } from '../instance/runs.ts'
import type { Parts } from '../parts.ts'

type WatchCommands = HandlersOf<typeof declared>

export function watchHandlers(parts: Parts): WatchCommands {
  const watches = (account: string | undefined) => parts.accounts.session(account).automations.watches
  const shownWatch = (account: string | undefined, watch = '') =>
    parts.store.get().accounts[parts.accounts.session(account).id]?.watches[watch]
  return {
    async saveWatch({ account, watch, request, run }) {
      const { id } = parts.accounts.session(account)
      const beyondInterface = parts.store.get().accounts[id]?.beyondInterface === true
      if (request.rents) checkLengths(request.rents.request, beyondInterface)
      if (!run) return watches(account).save(watch, request)
      const before = shownWatch(account, watch)?.run?.into
      const asked = newRunOf(parts, run)
      const stays = run.into === undefined && run.fetch !== undefined && before !== undefined
      return watches(account).save(watch, request, stays ? { ...asked, into: before } : asked)
    },
    pauseWatch: ({ account, watch, paused }) => watches(account).pause(watch, paused),
    deleteWatch: ({ account, watch }) => watches(account).delete(watch),
    searchWatch: ({ account, watch }) => watches(account).search(watch),
    watchPrices: async ({ account, watch }) => watches(account).prices(watch),
  }
}
