import type { Handlers } from '../../page/dispatcher.ts'
import { doorOf, noteUser, type Parts } from '../parts.ts'

const words = { tell: 'only tell', raise: 'raise the bid', replace: 'rent another' } as const

export function recoveryCommands(parts: Parts): Pick<Handlers, 'chooseRecovery'> {
  return {
    async chooseRecovery({ choice, ...args }) {
      const { account, instance } = doorOf(parts, args)
      await parts.accounts.session(account).automations.recoveries.choose(instance, choice)
      noteUser(parts, account, `Once outbid, ${words[choice.kind]}:`, instance)
    },
  }
}
