import { typedNumber } from '#renderer/components/fields/readForm.ts'
import { count } from '#shared/format/size.ts'
import { exactTime, isoDay } from '#shared/format/time.ts'
import type { TemplateFilter } from '#shared/market/template.ts'

type Field = TemplateFilter['field']
type Operator = TemplateFilter['condition']['operator']
type Kind = 'whole' | 'number' | 'time' | 'text' | 'switch'

/** The fields that templates can be searched by (section 2.3), common ones first. */
export const filterFields: Record<Field, { name: string; kind: Kind; unit?: string }> = {
  name: { name: 'Name', kind: 'text' },
  image: { name: 'Image', kind: 'text' },
  tag: { name: 'Tag', kind: 'text' },
  recommended: { name: 'Recommended', kind: 'switch' },
  count_created: { name: 'Instances made', kind: 'whole' },
  recommended_disk_space: { name: 'Disk', kind: 'number', unit: 'GB' },
  use_ssh: { name: 'SSH', kind: 'switch' },
  ssh_direct: { name: 'Direct SSH', kind: 'switch' },
  jup_direct: { name: 'Direct Jupyter', kind: 'switch' },
  created_at: { name: 'Created', kind: 'time' },
  recent_create_date: { name: 'Last used', kind: 'time' },
  default_tag: { name: 'Default tag', kind: 'text' },
  docker_login_repo: { name: 'Registry', kind: 'text' },
  creator_id: { name: 'Author’s id', kind: 'whole' },
  id: { name: 'Id', kind: 'whole' },
  hash_id: { name: 'Hash', kind: 'text' },
}
export const allFields = Object.keys(filterFields) as readonly Field[]

const operatorNames: Record<Operator, string> = {
  eq: 'is',
  neq: 'is not',
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
  in: 'one of',
  notin: 'none of',
}
const timeNames: Partial<Record<Operator, string>> = {
  lt: 'before',
  lte: 'not after',
  gt: 'after',
  gte: 'not before',
}

/** The operators of a field, and their names for it: all of section 4.5, but two for switches. */
export function operatorsOf(field: Field): { value: Operator; label: string }[] {
  const { kind } = filterFields[field]
  const all = Object.keys(operatorNames) as Operator[]
  return (kind === 'switch' ? (['eq', 'neq'] as const) : all).map(value => ({
    value,
    label: (kind === 'time' ? timeNames[value] : undefined) ?? operatorNames[value],
  }))
}

/** The operator that a field's form begins with. */
export function firstOperator(field: Field): Operator {
  const { kind } = filterFields[field]
  return kind === 'number' || kind === 'whole' || kind === 'time' ? 'gte' : 'eq'
}

/** The filter that was typed, or its error. Several values are separated by commas. */
export function readFilter(
  field: Field,
  operator: Operator,
  typed: string,
): { filter: TemplateFilter } | { error: string } {
  if (operator === 'in' || operator === 'notin') {
    const words = typed
      .split(',')
      .map(word => word.trim())
      .filter(word => word !== '')
    const value = words.map(word => readValue(field, word))
    if (value.length === 0 || value.includes(undefined)) return { error: hintOf(field, true) }
    return {
      filter: { field, condition: { operator, value: value.filter(each => each !== undefined) } },
    }
  }
  const value = readValue(field, typed.trim())
  return value === undefined
    ? { error: hintOf(field, false) }
    : { filter: { field, condition: { operator, value } } }
}

function readValue(field: Field, text: string): string | number | boolean | undefined {
  const { kind } = filterFields[field]
  if (text === '') return undefined
  if (kind === 'text') return text
  if (kind === 'switch') return text === 'yes' ? true : text === 'no' ? false : undefined
  if (kind === 'time') return readTime(text)
  const number = typedNumber(text)
  if (number === undefined || Number.isNaN(number)) return undefined
  return kind === 'whole' && !Number.isInteger(number) ? undefined : number
}

/** A local date, with or without the time of day, or epoch seconds. */
function readTime(text: string): number | undefined {
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text)
  const [, date, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/.exec(text) ?? []
  const at = date === undefined ? Number.NaN : Date.parse(`${date}T${time}`)
  return Number.isNaN(at) ? undefined : at / 1000
}

/** A hint on how to type a value of that field. */
export function hintOf(field: Field, several: boolean): string {
  const { kind, unit } = filterFields[field]
  const one = {
    text: 'Enter the exact text.',
    switch: 'yes or no.',
    time: 'A date such as 2026-05-03, or 2026-05-03 14:02.',
    whole: 'A whole number.',
    number: unit ? `A number of ${unit}.` : 'A number.',
  }[kind]
  return several ? `${one} Separate several with commas.` : one
}

/** A filter's value, as its form shows it. */
export function typedValue({ field, condition }: TemplateFilter): string {
  const { kind } = filterFields[field]
  const one = (value: string | number | boolean) => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    if (kind !== 'time' || typeof value !== 'number') return String(value)
    const at = new Date(value * 1000)
    return `${isoDay(at)} ${at.toTimeString().slice(0, 8)}`
  }
  const { value } = condition
  return Array.isArray(value) ? value.map(one).join(', ') : one(value)
}

/** A filter's condition, without the field's name: `at least 100`, `after 3 May 2026, 14:02:11`. */
export function filterWords({ field, condition }: TemplateFilter): string {
  const { kind, unit } = filterFields[field]
  const operator = operatorsOf(field).find(each => each.value === condition.operator)?.label
  const one = (value: string | number | boolean) => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    if (typeof value === 'string') return `“${value}”`
    if (kind === 'time') return exactTime(value)
    return field === 'id' || field === 'creator_id'
      ? String(value)
      : `${count(value)}${unit ? ` ${unit}` : ''}`
  }
  const { value } = condition
  return `${operator ?? condition.operator} ${Array.isArray(value) ? value.map(one).join(', ') : one(value)}`
}

/** Adds a filter, replacing one on the same field with the same operator, as both could not apply. */
export function withFilter(filters: readonly TemplateFilter[], added: TemplateFilter): TemplateFilter[] {
  const rest = filters.filter(
    ({ field, condition }) => field !== added.field || condition.operator !== added.condition.operator,
  )
  return [...rest, added]
}
