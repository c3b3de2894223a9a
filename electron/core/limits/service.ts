import * as v from 'valibot'
import type { AccountContext, Automation } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import type { ActingParts } from './act.ts'
import { limitAlertsOf } from './alerts.ts'
import { createLimitChanges, type LimitChanges } from './changes.ts'
import { LimitEngine } from './engine.ts'
import type { Spending } from './facts.ts'
import type { StoredLimit } from './model.ts'

/** The limits of one account, which stop or destroy for the user. */
export interface Limits extends LimitChanges, Required<Omit<Automation, 'secretOwners'>> {}

/** What an account's limits work with, apart from the account. */
interface LimitParts extends ActingParts {
  spending: Spending
  /** Called with each limit that the user changed, before and after; `after` is undefined once it does nothing. */
  changed: (before: StoredLimit, after?: StoredLimit) => void
}

export async function openLimits(context: AccountContext, parts: LimitParts): Promise<Limits> {
  const { limits, changed } = parts
  const seenAt = await openDocument({
    files: context.files,
    clock: context.machine.clock,
    name: `${context.folder}/limits-seen.json`,
    schema: v.nullable(v.number()),
    empty: null,
    onBroken: context.onBroken,
  })
  const limitAlerts = limitAlertsOf(context)
  const engine = new LimitEngine(context, { ...parts, limitAlerts, seenAt })
  const show = () => engine.show()
  return {
    ...createLimitChanges(context, {
      limits,
      limitAlerts,
      changed,
      known: () => engine.known(),
      look: instance => engine.look(instance),
      show,
    }),
    onPoll: poll => engine.onPoll(poll),
    show,
    resume: () => engine.resume(),
    dueAt: () => engine.dueAt(),
    async flush() {
      await Promise.all([limits.flush(), seenAt.flush()])
    },
  }
}
