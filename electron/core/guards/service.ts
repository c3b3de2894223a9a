import * as v from 'valibot'
import type { AccountContext, Automation } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import type { ActingParts } from './act/acting.ts'
import { guardAlertsOf } from './alerts/guard-alerts.ts'
import { createGuardChanges, type GuardChanges } from './change/changes.ts'
import { GuardEngine } from './engine.ts'
import type { Spending } from './facts/snapshots.ts'
import type { Guard } from './model.ts'

/** The guards of one account, which stop or destroy for the user. */
export interface Guards extends GuardChanges, Required<Omit<Automation, 'secretOwners'>> {}

/** What an account's guards work with, apart from the account. */
interface GuardParts extends ActingParts {
  spending: Spending
  /** Called with each guard that the user changed, before and after; `after` is undefined once it does nothing. */
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
    ...createGuardChanges(context, {
      guards,
      guardAlerts,
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
      await Promise.all([guards.flush(), seenAt.flush()])
    },
  }
}
