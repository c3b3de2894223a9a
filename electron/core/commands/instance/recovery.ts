import type { recoveryCommands as declared } from '#contract/commands/instance/recovery.ts'
import { rate } from '#contract/format/money.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'

const words = { tell: 'only tell', raise: 'raise the bid', replace: 'rent another' } as const

export function recoveryHandlers(parts: Parts): HandlersOf<typeof declared> {
  return {
    async chooseRecovery({ choice, ...args }) {
      const { account, instance } = targetOf(parts, args)
      if (choice.kind === 'raise') refuseUseless(instance, micros(choice.ceiling))
      await parts.accounts.session(account).automations.recoveries.choose(instance, choice)
      noteUser(parts, account, `Once outbid, ${words[choice.kind]}:`, instance)
    },
  }
}

/** Refuses a ceiling that the bid or the lowest bid has reached already. */
function refuseUseless({ bid = 0, minimumBid = 0 }: InstanceView, ceiling: Micros): void {
  const [most, what] = bid > minimumBid ? [bid, 'the bid'] : [minimumBid, 'the lowest bid']
  if (ceiling > most) return
  throw new BerthError({
    code: 'useless_ceiling',
    message: `That has no effect: ${what} is ${rate(most)} already.`,
    advice: 'Give more than that.',
    field: 'choice.ceiling',
  })
}
