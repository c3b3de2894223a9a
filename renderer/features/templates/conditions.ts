/** One condition of a template's machine filters, as typed. */
export interface ConditionRow {
  /** Tells rows apart while they are added and removed. */
  key: number
  field: string
  operator: string
  /** A number, true, false, or a text; several with commas for `in` and `notin`. In quotes it is a text for sure. */
  value: string
}

type Filters = Record<string, Record<string, unknown>>

export function conditionRows(filters: Filters): ConditionRow[] {
  return Object.entries(filters)
    .flatMap(([field, conditions]) =>
      Object.entries(conditions).map(([operator, value]) => ({ field, operator, value: valueText(value) })),
    )
    .map((row, key) => ({ key, ...row }))
}

/** `{field: {operator: value}}` of the rows; empty rows are left out. */
export function readConditions(rows: readonly ConditionRow[]): { filters: Filters; error?: string } {
  const filters: Filters = {}
  for (const { field, operator, value } of rows) {
    const name = field.trim()
    if (name === '' && value.trim() === '') continue
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name))
      return { filters, error: 'A field is written like num_gpus or cuda_max_good.' }
    if (value.trim() === '') return { filters, error: `Enter a value for ${name}.` }
    if (filters[name]?.[operator] !== undefined)
      return { filters, error: `${name} has the same condition twice.` }
    filters[name] = { ...filters[name], [operator]: readValue(value.trim(), operator) }
  }
  return { filters }
}

function readValue(text: string, operator: string): unknown {
  const whole = json(text)
  if (operator !== 'in' && operator !== 'notin') return whole === undefined ? text : whole
  if (Array.isArray(whole)) return whole
  return text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
    .map(word => json(word) ?? word)
}

function valueText(value: unknown): string {
  if (typeof value === 'string')
    return value.trim() === value && value !== '' && json(value) === undefined ? value : JSON.stringify(value)
  const simple =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(each => typeof each === 'number' || (typeof each === 'string' && !/[",[\]{}]/.test(each)))
  return simple ? value.map(valueText).join(', ') : JSON.stringify(value)
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
