import type { agentCommands } from '#contract/commands/instances.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import { type Spender, spenderParts } from '#shared/spending/spender.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import type { Services } from './services.ts'

const isAgent = (by: Spender | undefined) => spenderParts(by)?.kind === 'agent'

export function agentHandlers({
  accounts,
  activity,
  settings,
  store,
}: Services): HandlersOf<typeof agentCommands> {
  return {
    async stopAgents({ account }) {
      const session = accounts.session(account)
      // First, so that none rents or starts anything meanwhile.
      const spenders = settings
        .get()
        .spenders.map(form =>
          form.kind === 'agent' && form.may === 'run' ? { ...form, may: 'see' as const } : form,
        )
      await settings.change({ spenders })
      store.change(draft => {
        draft.settings = settings.get()
      })
      const { instances = {}, rentals = {} } = store.get().accounts[session.id] ?? {}
      const going = Object.values(rentals).filter(
        rental => isRenting(rental) && !rental.cancelling && isAgent(session.rentals.find(rental.id)?.by),
      )
      const cancels = await Promise.allSettled(going.map(({ id }) => session.rentals.cancel(id)))
      const undone = new Set(going.map(({ instance }) => instance))
      const running = session.automations.ledger.instancesOf(isAgent).filter(id => {
        const view = instances[id]
        return view !== undefined && !undone.has(id) && !hasTrait(view.state, 'over')
      })
      const stops = await Promise.allSettled(running.map(id => session.endings.request(id, 'stop')))
      const stopped = running.filter((_, at) => stops[at]?.status === 'fulfilled')
      const failed = running.filter(id => !stopped.includes(id))
      const cancelled = cancels.filter(({ status }) => status === 'fulfilled').length
      activity.add({
        account: session.id,
        kind: failed.length > 0 ? 'error' : 'user',
        text: `Stopping all that agents rented: ${stopped.length} of ${running.length} instances, ${cancelled} rentals cancelled`,
        detail: 'Agents may only look from now on. You decide on it in Settings, Agents and scripts.',
      })
      await session.poll()
      return { stopped, cancelled, failed }
    },
  }
}
