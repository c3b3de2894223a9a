import { BerthError } from '../../../contract/problem.ts'
import type { Handlers } from '../../page/dispatcher.ts'
import type { Parts } from '../parts.ts'

type FailoverCommands = Pick<
  Handlers,
  'rentWithFailover' | 'cancelFailover' | 'dismissFailover' | 'forgiveHost'
>

export function failoverCommands({ accounts, activity }: Parts): FailoverCommands {
  const failoversOf = (account: string | undefined) => accounts.session(account).automations.failovers
  return {
    async rentWithFailover({ account, search, request, limits }) {
      if ((search.query.type === 'bid') !== (request.bid !== undefined))
        throw new BerthError({
          code: 'invalid_argument',
          message: 'A bid is given for interruptible machines, and for no others.',
          field: 'request.bid',
        })
      return failoversOf(account).start({ search, request, limits })
    },
    cancelFailover: ({ account, failover }) => failoversOf(account).cancel(failover),
    dismissFailover: ({ account, failover }) => failoversOf(account).dismiss(failover),
    async forgiveHost({ account, machine }) {
      const { id, automations } = accounts.session(account)
      await automations.failovers.forgive(machine)
      activity.add({ account: id, kind: 'user', text: `Forgave machine ${machine}` })
    },
  }
}
