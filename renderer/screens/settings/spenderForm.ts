import * as v from 'valibot'
import { asTyped, number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import {
  CallerName,
  Everything,
  newSpender,
  SpenderForm,
  type SpenderKind,
} from '#shared/spending/spender.ts'

/** The typed form of an agent, a script or a project. */
export interface SpenderDraft {
  kind: SpenderKind
  name: string
  may: SpenderForm['may']
  perDay: string
  perHour: string
  machines: string
  price: string
}

export function spenderDraft(form: SpenderForm | undefined): SpenderDraft {
  const { perDay, perHour, machines, price, ...rest } = form ?? { ...newSpender, kind: 'agent', name: '' }
  return {
    ...rest,
    perDay: asTyped(perDay),
    perHour: asTyped(perHour),
    machines: asTyped(machines),
    price: asTyped(price),
  }
}

const caller = v.object({ ...SpenderForm.entries, name: CallerName })

/** `others`: the forms of all others, whose names are taken. */
export function readSpender(draft: SpenderDraft, others: readonly SpenderForm[]): ReadForm<SpenderForm> {
  const { kind, name } = draft
  const read = readForm(kind === 'project' ? SpenderForm : caller, {
    ...draft,
    // Scripts and projects are yours: they act within their caps, or they have none.
    may: kind === 'agent' ? draft.may : 'run',
    name: name.trim(),
    perDay: number(draft.perDay),
    perHour: number(draft.perHour),
    machines: number(draft.machines),
    price: number(draft.price),
  })
  const isTaken = others.some(one => one.kind === kind && one.name === name.trim())
  return isTaken ? { errors: { ...read.errors, name: 'That name is on the list already.' } } : read
}

/** The typed caps over everything; empty for none. */
export function everythingDraft({ perHour, machines }: Everything): { perHour: string; machines: string } {
  const typed = (cap: number | null) => (cap === null ? '' : asTyped(cap))
  return { perHour: typed(perHour), machines: typed(machines) }
}

export function readEverything({
  perHour,
  machines,
}: ReturnType<typeof everythingDraft>): ReadForm<Everything> {
  const cap = (text: string) => (text.trim() === '' ? null : number(text))
  return readForm(Everything, { perHour: cap(perHour), machines: cap(machines) })
}
