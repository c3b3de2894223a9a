import { Fields, isObject } from '../fields.ts'

export const faultKinds = [
  'status',
  'delay',
  'hang',
  'hang_after',
  'reset',
  'reset_after',
  'garbage',
  'wrong_types',
] as const

/** The kind of fault; simulator/README.md describes each. */
export type FaultKind = (typeof faultKinds)[number]

/** A fault rule as tests give it. */
export interface FaultInput {
  /** Any method when left out. */
  method?: string
  /** A regular expression for the path; any path when left out. */
  path?: string
  kind: FaultKind
  /** How many requests it affects; all of them when left out. */
  times?: number
  /** The status of kind `status`; default 500. */
  status?: number
  /** The error code of kind `status`; none when left out. */
  error?: string
  /** Real milliseconds of kind `delay`; default 1000. */
  ms?: number
}

/** A fault rule, checked. */
export interface FaultRule {
  method: string | null
  path: RegExp
  kind: FaultKind
  times: number
  status: number
  error: string | null
  ms: number
}

/** Checks rules. Throws 400 `invalid_args`. */
export function readFaultRules(rules: readonly unknown[]): FaultRule[] {
  return rules.map(rule => {
    const fields = new Fields(isObject(rule) ? rule : {})
    if (!isObject(rule)) throw fields.refuse('A rule must be an object.')
    const name = fields.string('kind')
    const kind = faultKinds.find(known => known === name)
    if (!kind) throw fields.refuse(`kind must be one of ${faultKinds.join(', ')}.`)
    return {
      method: fields.optionalString('method')?.toUpperCase() ?? null,
      path: readPattern(fields),
      kind,
      times: within(fields, 'times', 0, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
      status: within(fields, 'status', 200, 599) ?? 500,
      error: fields.optionalString('error') ?? null,
      ms: within(fields, 'ms', 0, 3_600_000) ?? 1000,
    }
  })
}

function readPattern(fields: Fields): RegExp {
  try {
    return new RegExp(fields.optionalString('path') ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) throw fields.refuse('path must be a regular expression.')
    throw error
  }
}

function within(fields: Fields, name: string, low: number, high: number): number | undefined {
  const value = fields.optionalInteger(name)
  if (value !== undefined && (value < low || value > high)) {
    throw fields.refuse(`${name} must be from ${low} to ${high}.`)
  }
  return value
}
