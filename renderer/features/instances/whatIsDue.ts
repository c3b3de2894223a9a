import { dueNext, type GuardView } from '#contract/automation/guard.ts'
import { guardHindrance } from '#contract/automation/guard-hindrance.ts'
import { guardKinds } from '#contract/automation/guard-kinds.ts'
import { moment } from '#contract/format/time.ts'
import { accountNow, localMoment } from '#contract/reading.ts'
import type { AccountView } from '#contract/state.ts'

/** A guard that is due next, in the palette's words. */
export interface Due {
  account: string
  guard: GuardView
  /** `Next, at 18:00: stops comfy when it is idle (Lab)`. */
  label: string
  /** The account's name where there are several: ` (Lab)`. */
  whose: string
}

/** How many guards the palette shows, of all accounts. */
const most = 5

/** The guards due next on all accounts, the soonest in real time first; `now`: epoch milliseconds of this machine. */
export function whatIsDue(accounts: readonly AccountView[], now: number): Due[] {
  return accounts
    .flatMap(account => {
      const there = accountNow(account.clock, now)
      // An account's time may run ahead or faster, as the demo's does.
      return dueNext(account).map(({ guard, dueAt }) => ({
        account,
        guard,
        moment: moment(dueAt, there),
        comes: localMoment(account.clock, dueAt),
      }))
    })
    .sort((a, b) => a.comes - b.comes)
    .slice(0, most)
    .map(({ account, guard, moment }, index) => {
      const whose = accounts.length > 1 ? ` (${account.name})` : ''
      const told = guardKinds[guard.condition.kind].isSure
      const at = told ? '' : `, at ${moment}`
      const when = guardHindrance(account.connection) ? 'Cannot act now' : index === 0 ? 'Next' : 'Then'
      const label = `${when}${at}: ${lower(guard.sentence)}${whose}`
      return { account: account.id, guard, label, whose }
    })
}

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`
}
