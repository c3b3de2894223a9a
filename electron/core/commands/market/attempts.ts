import type { attemptCommands as declared } from '#contract/commands/market/attempts.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { checkLengths } from '#core/renting/rentals/request-body.ts'
import { newRunOf } from '../instance/runs.ts'
import type { Parts } from '../parts.ts'

type AttemptCommands = HandlersOf<typeof declared>

export function attemptHandlers(parts: Parts): AttemptCommands {
  const { accounts, activity } = parts
  const attemptsOf = (account: string | undefined) => accounts.session(account).automations.attempts
  return {
    async rentWithFailover({ account, search, request, limits, run }) {
      if ((search.query.type === 'bid') !== (request.bid !== undefined))
        throw new BerthError({
          code: 'invalid_argument',
          message: 'A bid is given for interruptible machines, and for no others.',
          field: 'request.bid',
        })
      checkLengths(
        request,
        parts.store.get().accounts[accounts.session(account).id]?.beyondInterface === true,
      )
      const wanted = { search, request, limits }
      if (!run) return attemptsOf(account).start(wanted)
      const attemptSeries = `f${parts.machine.random.hex(16)}`
      const newRun = { ...newRunOf(parts, run), attemptSeries }
      return accounts
        .session(account)
        .automations.runs.startOn(newRun, () => attemptsOf(account).start(wanted, attemptSeries, true))
    },
    cancelAttempts: ({ account, attemptSeries }) => attemptsOf(account).cancel(attemptSeries),
    dismissAttempts: ({ account, attemptSeries }) => attemptsOf(account).dismiss(attemptSeries),
    async forgiveMachine({ account, machine }) {
      const { id, automations } = accounts.session(account)
      await automations.attempts.forgive(machine)
      activity.add({ account: id, kind: 'user', text: `Forgave machine ${machine}` })
    },
  }
}
