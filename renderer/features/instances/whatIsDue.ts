import { dueNext, type LimitView, limitKinds } from '#contract/automation/limit.ts'
import { limitHindrance } from '#contract/automation/limit-words.ts'
import { moment } from '#contract/format/time.ts'
import { accountNow, localMoment } from '#contract/reading.ts'
import type { AccountView } from '#contract/state.ts'

/** A limit that is due next, in the palette's words. */
export interface Due {
  account: string
  limit: LimitView
  /** `Next, at 18:00: stops comfy when it is idle (Lab)`. */
  label: string
  /** The account's name where there are several: ` (Lab)`. */
  whose: string
}

/** How many limits the palette shows, of all accounts. */
const most = 5

/** The limits due next on all accounts, the soonest in real time first; `now`: epoch milliseconds of this machine. */
export function whatIsDue(accounts: readonly AccountView[], now: number): Due[] {
  return accounts
    .flatMap(account => {
      const there = accountNow(account.clock, now)
      // An account's time may run ahead or faster, as the demo's does.
      return dueNext(account).map(({ limit, dueAt }) => ({
        account,
        limit,
        moment: moment(dueAt, there),
        comes: localMoment(account.clock, dueAt),
      }))
    })
    .sort((a, b) => a.comes - b.comes)
    .slice(0, most)
    .map(({ account, limit, moment }, index) => {
      const whose = accounts.length > 1 ? ` (${account.name})` : ''
      const told = limitKinds[limit.when.kind].isSure
      const at = told ? '' : `, at ${moment}`
      const when = limitHindrance(account.connection) ? 'Cannot act now' : index === 0 ? 'Next' : 'Then'
      const label = `${when}${at}: ${lower(limit.sentence)}${whose}`
      return { account: account.id, limit, label, whose }
    })
}

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`
}
