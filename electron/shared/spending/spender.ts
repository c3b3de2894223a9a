import * as v from 'valibot'
import { name } from '../fields.ts'
import { money, rate } from '../format/money.ts'
import { counted } from '../format/size.ts'
import type { Problem, Refusal, RefusedLimit } from '../problem.ts'
import { type Micros, micros } from './money.ts'

/** Who may spend in their own name: a program that rents for you, a script of yours, or a project. */
export const spenderKinds = ['agent', 'script', 'project'] as const
export type SpenderKind = (typeof spenderKinds)[number]

/** The name of an agent or a script: it stands in Activity, in files and in a terminal. */
export const CallerName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9][a-z0-9._-]{0,31}$/,
    'use at most 32 small letters, digits, dots, dashes and underscores',
  ),
  v.check(name => name !== 'you' && name !== 'berth', 'choose another name: Activity uses this one'),
)

/** A spender in records: `agent:claude`. Without one, it's you. */
export type Spender = string
export const StoredSpender = v.pipe(v.string(), v.maxLength(256))

export function spenderOf(kind: SpenderKind, name: string): Spender {
  return `${kind}:${name}`
}

/** The parts of a spender; undefined for you, and for what is none. */
export function spenderParts(by: Spender | undefined): { kind: SpenderKind; name: string } | undefined {
  const [word = '', name] = by?.split(/:(.*)/s) ?? []
  const kind = spenderKinds.find(one => one === word)
  return kind && name ? { kind, name } : undefined
}

/** The agent or script of a spender; undefined for you and your projects. */
export function callerOf(by: Spender | undefined): Spender | undefined {
  const kind = spenderParts(by)?.kind
  return kind === 'agent' || kind === 'script' ? by : undefined
}

/** `claude (agent)`; for you, `you`. */
export function spenderWords(by: Spender | undefined): string {
  const parts = spenderParts(by)
  if (!parts) return 'you'
  return parts.kind === 'project' ? `project ${parts.name}` : `${parts.name} (${parts.kind})`
}

const dollars = (most: number, message: string) =>
  v.pipe(v.number('enter an amount'), v.minValue(0, 'at least $0'), v.maxValue(most, message))

/** What a spender may do. Caps are in dollars; a day is the account's, from midnight UTC. */
export const SpenderForm = v.object({
  kind: v.picklist(spenderKinds),
  name,
  /** `see`: it may look and search, and rent nothing. */
  may: v.picklist(['nothing', 'see', 'run']),
  perDay: dollars(100_000, 'at most $100,000'),
  perHour: dollars(10_000, 'at most $10,000'),
  /** The most machines at a time, stopped ones included. */
  machines: v.pipe(
    v.number('enter a number'),
    v.integer('enter a whole number'),
    v.minValue(0, 'at least 0'),
    v.maxValue(1000, 'at most 1,000'),
  ),
  /** The highest price of one machine per hour. */
  price: dollars(1000, 'at most $1,000'),
})
export type SpenderForm = v.InferOutput<typeof SpenderForm>

/** Caps over all machines of an account, whoever pays; null for none. */
export const Everything = v.object({
  perHour: v.nullable(SpenderForm.entries.perHour),
  machines: v.nullable(SpenderForm.entries.machines),
})
export type Everything = v.InferOutput<typeof Everything>

/** The form with which a new spender begins. */
export const newSpender: Omit<SpenderForm, 'name' | 'kind'> = {
  may: 'run',
  perDay: 10,
  perHour: 2,
  machines: 1,
  price: 2,
}

/** The form of a spender. You and projects without one have no caps; an agent or a script without one may do nothing. */
export function formOf(forms: readonly SpenderForm[], by: Spender | undefined): SpenderForm | undefined {
  const parts = spenderParts(by)
  if (!parts) return undefined
  const form = forms.find(one => spenderOf(one.kind, one.name) === by)
  if (form || parts.kind === 'project') return form
  return { ...newSpender, ...parts, may: 'nothing' }
}

/** What a spender has used, in micro-dollars. */
export interface SpenderUse {
  /** Spent today, and what may still be spent of what was agreed. */
  today: Micros
  /** Of that, not spent yet. */
  reserved: Micros
  /** What its machines cost per hour once all run. */
  perHour: Micros
  machines: number
}

/** What all machines of an account use of its caps. */
export type EverythingUse = Pick<SpenderUse, 'perHour' | 'machines'>

/** A spender's use in State, with its machines. */
export interface SpenderView extends SpenderUse {
  instances: readonly number[]
}

/** Whether agents have machines on an account. */
export function hasAgents(
  account: { spenders?: Readonly<Record<Spender, SpenderView>> } | undefined,
): boolean {
  return Object.entries(account?.spenders ?? {}).some(
    ([by, { machines }]) => machines > 0 && spenderParts(by)?.kind === 'agent',
  )
}

/** Something that may cost money, in micro-dollars. */
export interface Need {
  /** Undefined where nobody knows it. */
  perHour: Micros | undefined
  machines: number
  /** The dearest machine's price per hour, if there are several. */
  price?: Micros | undefined
  /** What of it may be spent today. */
  today: Micros
}

const asDollars = (amount: Micros) => amount / 1_000_000

/** Why a spender may not have what it needs; undefined if it may. */
export function refusalOf(
  form: SpenderForm | undefined,
  used: SpenderUse,
  { perHour, machines, price = perHour, today }: Need,
): Problem | undefined {
  if (!form) return undefined
  const { name } = form
  if (form.may !== 'run') return notPermitted(name, 'Spending')
  const refuse = (
    limit: RefusedLimit,
    cap: number,
    used: number,
    retry: Refusal['retry'],
    message: string,
  ): Problem => {
    const advice = retry === 'never' ? 'Choose something cheaper.' : retryWords[retry]
    return overCap({ limit, name, cap, used, retry }, message, advice)
  }
  const caps = { day: micros(form.perDay), hour: micros(form.perHour), price: micros(form.price) }
  if (perHour === undefined || price === undefined)
    return refuse('price', form.price, 0, 'never', `Its price is unknown, and ${name} has a cap on it.`)
  if (price > caps.price)
    return refuse(
      'price',
      form.price,
      asDollars(price),
      'never',
      `${rate(price)} is above the price that ${name} may pay, ${rate(caps.price)}.`,
    )
  if (used.machines + machines > form.machines) {
    const retry = machines > form.machines ? 'never' : 'after_an_end'
    const message = `${name} may have ${form.machines} machines at a time, and has ${used.machines}.`
    return refuse('machines', form.machines, used.machines, retry, message)
  }
  if (used.perHour + perHour > caps.hour) {
    const retry = perHour > caps.hour ? 'never' : 'after_an_end'
    const message = `${name} may spend ${rate(caps.hour)}, and spends ${rate(used.perHour)}.`
    return refuse('hour', form.perHour, asDollars(used.perHour), retry, message)
  }
  if (used.today + today <= caps.day) return undefined
  const retry = today > caps.day ? 'never' : used.reserved > 0 ? 'after_an_end' : 'tomorrow'
  const message = `This may cost ${money(today)} today. ${name} may spend ${money(caps.day)} a day, and ${money(
    Math.max(0, caps.day - used.today),
  )} is left.`
  return refuse('day', form.perDay, asDollars(used.today), retry, message)
}

/** Why all machines of an account together may not have that, too; undefined if they may. */
export function everythingRefusal(
  caps: Everything,
  used: EverythingUse,
  { perHour, machines }: Pick<Need, 'perHour' | 'machines'>,
): Problem | undefined {
  const refuse = (
    limit: 'machines' | 'hour',
    cap: number,
    taken: number,
    isNever: boolean,
    message: string,
  ) => {
    const retry = isNever ? 'never' : 'after_an_end'
    const first = isNever ? 'Choose something smaller or cheaper' : 'End a machine'
    const advice = `${first}, or raise the cap on everything in Settings, Agents and scripts.`
    return overCap({ limit, name: 'everything', cap, used: taken, retry }, message, advice)
  }
  const { machines: most } = caps
  if (most !== null && machines > 0 && used.machines + machines > most) {
    const message = `All together, there may be ${counted(most, 'machine')} at a time, and there are ${used.machines}.`
    return refuse('machines', most, used.machines, machines > most, message)
  }
  if (caps.perHour === null || perHour === 0) return undefined
  const spent = asDollars(used.perHour)
  if (perHour === undefined) {
    const message = 'Its price is unknown, and there is a cap on what all machines together cost per hour.'
    return refuse('hour', caps.perHour, spent, true, message)
  }
  const cap = micros(caps.perHour)
  if (used.perHour + perHour <= cap) return undefined
  const message = `All machines together may cost ${rate(cap)}. They cost ${rate(used.perHour)}, and this would be ${rate(perHour)} more.`
  return refuse('hour', caps.perHour, spent, perHour > cap, message)
}

function overCap(
  refusal: Omit<Refusal, 'left'> & { cap: number; used: number },
  message: string,
  advice: string,
): Problem {
  const left = Math.max(0, micros(refusal.cap) - micros(refusal.used)) / 1_000_000
  return { code: 'over_cap', message, advice, refusal: { ...refusal, left } }
}

const retryWords = {
  after_an_end: 'Try again once one of its machines has ended.',
  tomorrow: 'Try again tomorrow.',
} as const

/** It may not even look. */
export function nothingPermitted(name: string): Problem {
  return { ...notPermitted(name, ''), message: `${name} isn’t permitted to do anything here.` }
}

/** It may not do that at all. */
export function notPermitted(name: string, what: string, limit: RefusedLimit = 'permission'): Problem {
  return {
    code: 'not_permitted',
    message: `${what} isn’t permitted for ${name}.`,
    advice: limit === 'permission' ? 'You decide on it in Settings, Agents and scripts.' : undefined,
    refusal: { limit, name, cap: null, used: null, left: null, retry: 'never' },
  }
}
