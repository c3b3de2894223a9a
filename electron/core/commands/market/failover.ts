import { BerthError } from '../../../contract/problem.ts'
import type { Handlers } from '../../app/page/dispatcher.ts'
import { newRunOf } from '../instance/runs.ts'
import type { Parts } from '../parts.ts'

type FailoverCommands = Pick<
  Handlers,
  'rentWithFailover' | 'cancelFailover' | 'dismissFailover' | 'forgiveMachine'
>

export function failoverCommands(parts: Parts): FailoverCommands {
  const { accounts, activity } = parts
  const failoversOf = (account: string | undefined) => accounts.session(account).automations.failovers
  return {
    async rentWithFailover({ account, search, request, limits, run }) {
      if ((search.query.type === 'bid') !== (request.bid !== undefined))
        throw new BerthError({
          code: 'invalid_argument',
          message: 'A bid is given for interruptible machines, and for no others.',
          field: 'request.bid',
        })
      const wanted = { search, request, limits }
      if (!run) return failoversOf(account).start(wanted)
      const failover = `f${parts.machine.random.hex(16)}`
      const newRun = { ...newRunOf(parts, run), failover }
      return accounts
        .session(account)
        .automations.runs.startOn(newRun, () => failoversOf(account).start(wanted, failover, true))
    },
    cancelFailover: ({ account, failover }) => failoversOf(account).cancel(failover),
    dismissFailover: ({ account, failover }) => failoversOf(account).dismiss(failover),
    async forgiveMachine({ account, machine }) {
      const { id, automations } = accounts.session(account)
      await automations.failovers.forgive(machine)
      activity.add({ account: id, kind: 'user', text: `Forgave machine ${machine}` })
    },
  }
}
