import { type LimitView, limitKinds } from '#shared/automation/limit.ts'
import { dueLimits, limitSentence } from '#shared/automation/limit-words.ts'
import { accountNow } from '#shared/derived.ts'
import { moment } from '#shared/format/time.ts'
import type { AccountView } from '#shared/state.ts'

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
  return dueLimits(accounts, most)
    .slice(0, most)
    .map(({ account, limit, dueAt, timing }) => {
      const whose = accounts.length > 1 ? ` (${account.name})` : ''
      // The sentence of the other kinds names the moment.
      const there = accountNow(account.clock, now)
      const at = limitKinds[limit.when.kind].isSure ? '' : `, at ${moment(dueAt, there)}`
      // The stored one has the day, which it may be by now.
      const sentence =
        limit.when.kind === 'time' ? limitSentence(limit, account.instances, there) : limit.sentence
      const label = `${timing}${at}: ${lower(sentence)}${whose}`
      return { account: account.id, limit, label, whose }
    })
}

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`
}
