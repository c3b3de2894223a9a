import type { AccountTime, AccountView, State } from '#contract/state.ts'
import { sameTime } from '#core/instances/polling/account-clock.ts'
import type { accountFields } from '#core/instances/polling/poll.ts'
import { applyChanges, type Changes } from '#core/instances/reconcile.ts'
import { isDeepEqual } from '#core/state/same.ts'

/** The results of a poll, compared with State. */
export interface PollFound {
  changes: Changes
  /** Empty where the poll lacks the user. */
  fields: Partial<ReturnType<typeof accountFields>>
  clock: AccountTime
  limitation: string | undefined
  /** Undefined where the list of instances is certain. */
  uncertain: AccountView['uncertain']
  /** When the credit was last received, epoch seconds of the account's time. */
  creditReadAt: number
}

/** Writes the changes of a poll into the draft; `before` is the account in State. */
export function showPoll(
  draft: State,
  before: AccountView,
  { changes, fields, clock, limitation, uncertain, creditReadAt }: PollFound,
): void {
  const target = draft.accounts[before.id]
  if (!target) return
  applyChanges(target.instances, before.instances, changes)
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && !isDeepEqual(before[name as keyof typeof fields], value))
      Object.assign(target, { [name]: value })
  const creditUntold = fields.userId !== undefined && fields.credit === undefined
  if (creditUntold) target.creditUntold = true
  else if (before.creditUntold) delete target.creditUntold
  if (fields.credit !== undefined) delete target.creditAt
  else if (before.credit !== undefined && before.creditAt === undefined) target.creditAt = creditReadAt
  if (!sameTime(before.clock, clock)) target.clock = clock
  if (limitation !== before.limitation) {
    if (limitation) target.limitation = limitation
    else delete target.limitation
  }
  if (!isDeepEqual(before.uncertain, uncertain)) {
    if (uncertain) target.uncertain = uncertain
    else delete target.uncertain
  }
  if (changes.changed.size === 0 && changes.gone.length === 0) return
  const shown = { ...before.instances, ...Object.fromEntries(changes.changed) }
  for (const gone of changes.gone) delete shown[gone]
  const spend = Object.values(shown).reduce((sum, instance) => sum + instance.costPerHour, 0)
  if (spend !== before.spendPerHour) target.spendPerHour = spend
}
