import { everything } from '#contract/automation/stop-everything.ts'
import type { limitCommands as declared } from '#contract/commands/instance/limits.ts'
import { instanceName } from '#contract/format/name.ts'
import { type RentalView, rentedName } from '#contract/market/rental-view.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { lackedBy } from '#core/app/permission.ts'
import { type Parts, targetOf } from '../parts.ts'

type LimitCommands = HandlersOf<typeof declared>

export function limitHandlers(parts: Parts): LimitCommands {
  const { accounts, activity, store } = parts
  const limitsOf = (account: string | undefined) => accounts.session(account).automations.limits

  /** Throws where the instance to limit does not exist. */
  function check({ account, instance }: { account?: string; instance?: number }): void {
    if (instance !== undefined) targetOf(parts, { account, instance })
  }

  return {
    async setLimit({ account, limit, ...request }) {
      check({ account, instance: request.instance })
      return limitsOf(account).set(request, limit)
    },
    async previewLimit({ account, ...request }) {
      check({ account, instance: request.instance })
      return limitsOf(account).preview(request)
    },
    switchLimit: ({ account, limit, on }) => limitsOf(account).switch(limit, on),
    watchLimit: ({ account, limit, asleep }) => limitsOf(account).watch(limit, asleep),
    removeLimit: ({ account, limit }) => limitsOf(account).remove(limit),
    snoozeLimit: ({ account, limit, minutes }) => limitsOf(account).snooze(limit, minutes),
    async stopEverything({ account }) {
      const session = accounts.session(account)
      const view = store.get().accounts[session.id]
      if (!view) return { stopped: 0, cancelled: 0, failed: [] }
      const { instances, rentals, watches } = everything(view)
      const [stops, cancels] = await Promise.all([
        Promise.allSettled(instances.map(async ({ id }) => endInstance(session.client, id, 'stop'))),
        Promise.allSettled(rentals.map(({ id }) => session.rentals.cancel(id))),
        Promise.all(watches.map(({ id }) => session.automations.watches.pause(id, true))),
      ])
      const went = <Outcome extends PromiseSettledResult<unknown>>({ status }: Outcome) =>
        status === 'fulfilled'
      const failed = [
        ...instances.filter((_, index) => stops[index]?.status === 'rejected').map(instanceName),
        ...rentals.filter((_, index) => cancels[index]?.status === 'rejected').map(nameOf),
      ]
      const refused = [...stops, ...cancels].filter(outcome => outcome.status === 'rejected')
      const lacking = refused.map(({ reason }) => lackedBy(reason, 'instance_write')).find(Boolean)
      const why = lacking ? ` ${lacking.message}` : ''
      const stopped = stops.filter(went).length
      const cancelled = cancels.filter(went).length
      activity.add({
        account: session.id,
        kind: failed.length > 0 ? 'error' : 'user',
        text: `Stopped everything: ${stopped} ${stopped === 1 ? 'instance' : 'instances'}${cancelled > 0 ? `, ${cancelled} ${cancelled === 1 ? 'rental' : 'rentals'} cancelled` : ''}`,
        detail: failed.length > 0 ? `Not stopped: ${failed.join(', ')}.${why}` : undefined,
      })
      await session.poll()
      return { stopped, cancelled, failed, lacking }
    },
  }
}

function nameOf(rental: RentalView): string {
  return `the rental of ${rental.label ?? rentedName(rental)}`
}
