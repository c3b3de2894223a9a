import type { LimitView } from '#contract/automation/limit.ts'
import { LimitRequest, limitKinds } from '#contract/automation/limit-kinds.ts'
import type { Args } from '#contract/commands.ts'
import { type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { choiceOf, type LimitChoice, limitChoices, limitForms, newTyped, readField } from './kinds.ts'

/** The dialog's input. */
export interface LimitDraft {
  choice: LimitChoice
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

export function choicesOn(place: 'instance' | 'account'): { value: LimitChoice; label: string }[] {
  return limitChoices.flatMap(value => {
    const { kind, label } = limitForms[value]
    return limitKinds[kind].on === place ? [{ value, label }] : []
  })
}

/** A new limit's draft. `now` in epoch seconds of the account's time. */
export function emptyLimitDraft(choice: LimitChoice, now: number): LimitDraft {
  return { choice, typed: newTyped(now), action: 'stop', warning: '15', missed: 'act' }
}

/** The draft of a limit that is there already. */
export function limitDraft(limit: LimitView, now: number): LimitDraft {
  const { action, missed, warning } = limit
  const { choice, typed } = choiceOf(limit, now)
  return { choice, typed: { ...newTyped(now), ...typed }, action, missed, warning: String(warning / 60) }
}

type LimitSettings = Omit<Args<'setLimit'>, 'account' | 'limit' | 'instance'>

/** The request, or the errors by field. */
export function readLimitDraft({
  choice,
  typed,
  action,
  warning,
  missed,
}: LimitDraft): ReadForm<LimitSettings> {
  const { fields, request } = limitForms[choice]
  const when = request((name, scale) =>
    readField(
      fields.find(field => field.name === name),
      typed[name] ?? '',
      scale,
    ),
  )
  const { errors } = readForm(
    LimitRequest,
    when,
    path => fields.find(({ part }) => part === path)?.name ?? '',
  )
  return errors ? { errors } : { value: { when, action, missed, warning: Number(warning) * 60 } }
}
