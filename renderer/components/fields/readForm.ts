import * as v from 'valibot'

/** A form's result: a value of its schema, or a message for each invalid field. */
export type ReadForm<Value> = { value: Value; errors?: undefined } | { value?: undefined; errors: FormErrors }

export type FormErrors = Record<string, string>

/**
 * Reads a form by the contract's schema. Of each field, the first issue is shown, as a sentence.
 * @param draft the form's input, with numbers from {@link number}
 * @param fieldAt the form's field for a path of the schema, such as `limits.attempts`; '' where it has none
 */
export function readForm<Schema extends v.GenericSchema>(
  schema: Schema,
  draft: unknown,
  fieldAt: (path: string) => string = path => path,
): ReadForm<v.InferOutput<Schema>> {
  const read = v.safeParse(schema, draft)
  if (read.success) return { value: read.output }
  const errors: FormErrors = {}
  for (const issue of read.issues) errors[fieldAt(v.getDotPath(issue) ?? '')] ??= sentence(issue.message)
  return { errors }
}

/** The error of a single field; undefined when there is none. */
export function wrongIn(schema: v.GenericSchema, value: unknown): string | undefined {
  return readForm(schema, value).errors?.['']
}

/** The typed number in the schema's unit; `scale` is the form's unit in it: 60 for minutes of seconds. NaN for none. */
export function number(text: string, scale = 1): number {
  return (typedNumber(text) ?? Number.NaN) * scale
}

/** The contract's message as a sentence. */
function sentence(message: string): string {
  const start = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(start) ? start : `${start}.`
}

/** The first part of a path, for a form that has one field for a list. */
export function firstPart(path: string): string {
  return path.split('.')[0] ?? ''
}

/**
 * The number in typed text, with or without its unit (`$1,200.50`, `40 GB`, `0.31/h`); undefined for empty text, NaN
 * for anything else. A comma before groups of three digits separates thousands, as in `1,200`; any other one is a
 * decimal comma, as in `0,31` and `1,5`.
 */
export function typedNumber(text: string): number | undefined {
  const bare = withoutUnit(text)
  if (bare === '') return undefined
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''))
  const pointed = bare.replace(/^(-?\d*),(\d+)$/, '$1.$2')
  return /^-?(\d+(\.\d*)?|\.\d+)$/.test(pointed) ? Number(pointed) : Number.NaN
}

/** A number as a user would type it, without binary rounding noise: 98.50000001 is 98.5. */
export function asTyped(value: number): string {
  return String(Number(value.toFixed(4)))
}

function withoutUnit(text: string): string {
  return text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/(GB|\/h|%|Mb\/s)$/i, '')
    .trim()
}
