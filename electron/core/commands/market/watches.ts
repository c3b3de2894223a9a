import type { Handlers } from '../../page/dispatcher.ts'
import type { Parts } from '../parts.ts'

type WatchCommands = Pick<Handlers, 'saveWatch' | 'pauseWatch' | 'deleteWatch' | 'lookWatch' | 'watchPrices'>

export function watchCommands({ accounts }: Parts): WatchCommands {
  const watches = (account: string | undefined) => accounts.session(account).automations.watches
  return {
    saveWatch: ({ account, watch, wish }) => watches(account).save(watch, wish),
    pauseWatch: ({ account, watch, paused }) => watches(account).pause(watch, paused),
    deleteWatch: ({ account, watch }) => watches(account).delete(watch),
    lookWatch: ({ account, watch }) => watches(account).look(watch),
    watchPrices: async ({ account, watch }) => watches(account).prices(watch),
  }
}
