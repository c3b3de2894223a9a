import type { GuardView } from '#contract/automation/guard.ts'
import { GuardRequest, guardKinds } from '#contract/automation/guard-kinds.ts'
import type { Args } from '#contract/commands.ts'
import { type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { choiceOf, type GuardChoice, guardChoices, guardForms, newTyped, readField } from './kinds.ts'

/** The dialog's input. */
export interface GuardDraft {
  choice: GuardChoice
  /** Texts by field name. */
  typed: Record<string, string>
  action: 'stop' | 'destroy'
  /** Minutes ahead. */
  warning: string
  missed: 'act' | 'tell'
}

export const warnings = [
  { value: '0', label: 'Not at all' },
  { value: '5', label: '5 minutes ahead' },
  { value: '15', label: '15 minutes ahead' },
  { value: '30', label: '30 minutes ahead' },
  { value: '60', label: '1 hour ahead' },
]

export const whenMissed: readonly { value: 'act' | 'tell'; label: string }[] = [
  { value: 'act', label: 'Act on waking' },
  { value: 'tell', label: 'Only tell me' },
]

export function choicesOn(place: 'instance' | 'account'): { value: GuardChoice; label: string }[] {
  return guardChoices.flatMap(value => {
    const { kind, label } = guardForms[value]
    return guardKinds[kind].on === place ? [{ value, label }] : []
  })
}

/** A new guard's draft. `now` in epoch seconds of the account's time. */
export function emptyGuardDraft(choice: GuardChoice, now: number): GuardDraft {
  return { choice, typed: newTyped(now), action: 'stop', warning: '15', missed: 'act' }
}

/** The draft of a guard that is there already. */
export function guardDraft(guard: GuardView, now: number): GuardDraft {
  const { action, missed, warning } = guard
  const { choice, typed } = choiceOf(guard, now)
  return { choice, typed: { ...newTyped(now), ...typed }, action, missed, warning: String(warning / 60) }
}

type GuardSettings = Omit<Args<'setGuard'>, 'account' | 'guard' | 'instance'>

/** The request, or the errors by field. */
export function readGuardDraft({
  choice,
  typed,
  action,
  warning,
  missed,
}: GuardDraft): ReadForm<GuardSettings> {
  const { fields, request } = guardForms[choice]
  const when = request((name, scale) =>
    readField(
      fields.find(field => field.name === name),
      typed[name] ?? '',
      scale,
    ),
  )
  const { errors } = readForm(
    GuardRequest,
    when,
    path => fields.find(({ part }) => part === path)?.name ?? '',
  )
  return errors ? { errors } : { value: { when, action, missed, warning: Number(warning) * 60 } }
}
