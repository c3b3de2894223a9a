import * as v from 'valibot'
import type { AccountContext, Automation } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import type { ActingParts } from './act/acting.ts'
import { guardAlertsOf } from './alerts/guard-alerts.ts'
import { createGuardChanges, type GuardChanges } from './change/changes.ts'
import { GuardEngine } from './engine.ts'
import type { Spending } from './facts/snapshots.ts'
import type { Guard } from './model.ts'

/** The guards of one account: what the user has told Berth to stop or destroy by itself. */
export interface Guards extends GuardChanges, Required<Omit<Automation, 'secretOwners'>> {}

/** What the guards of an account go by, besides the account. */
interface GuardParts extends ActingParts {
  spending: Spending
  /** Called with each guard that the user has changed, as it was and as it is; without `after` it does nothing any more. */
  changed: (before: Guard, after?: Guard) => void
}

export async function openGuards(context: AccountContext, parts: GuardParts): Promise<Guards> {
  const { guards, changed } = parts
  const seenAt = await openDocument({
    files: context.files,
    clock: context.machine.clock,
    name: `${context.folder}/guards-seen.json`,
    schema: v.nullable(v.number()),
    empty: null,
    onBroken: context.onBroken,
  })
  const guardAlerts = guardAlertsOf(context)
  const engine = new GuardEngine(context, { ...parts, guardAlerts, seenAt })
  const show = () => engine.show()
  return {
    ...createGuardChanges(context, { guards, guardAlerts, changed, known: () => engine.known(), show }),
    onPoll: poll => engine.onPoll(poll),
    resume: show,
    dueAt: () => engine.dueAt(),
    async flush() {
      await Promise.all([guards.flush(), seenAt.flush()])
    },
  }
}
