import { refusal, type ServiceError } from './errors.ts'

/** A JSON value of a request before anything is known about it. */
export type JsonObject = Record<string, unknown>

/** Whether a JSON value is an object (and neither null nor an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads the fields of a request body and refuses those of the wrong type with 400 and a sentence that names
 * the field. `null` is a value of the wrong type unless a reader says otherwise. The error code is
 * `invalid_args`, another where a part of the interface has its own (`bad_request` for two-factor), or none.
 */
export class Fields {
  readonly values: JsonObject
  readonly code: string | null

  constructor(values: JsonObject, code: string | null = 'invalid_args') {
    this.values = values
    this.code = code
  }

  /** Other values, read in the same way. */
  with(values: JsonObject): Fields {
    return new Fields(values, this.code)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name)
  }

  refuse(msg: string): ServiceError {
    return refusal(400, this.code, msg)
  }

  string(name: string): string {
    const value = this.values[name]
    if (typeof value !== 'string') throw this.refuse(`${name} must be a string.`)
    return value
  }

  number(name: string): number {
    const value = this.values[name]
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.refuse(`${name} must be a number.`)
    return value
  }

  integer(name: string): number {
    const value = this.number(name)
    if (!Number.isSafeInteger(value)) throw this.refuse(`${name} must be an integer.`)
    return value
  }

  boolean(name: string): boolean {
    const value = this.values[name]
    if (typeof value !== 'boolean') throw this.refuse(`${name} must be true or false.`)
    return value
  }

  object(name: string): JsonObject {
    const value = this.values[name]
    if (!isObject(value)) throw this.refuse(`${name} must be an object.`)
    return value
  }

  array(name: string): unknown[] {
    const value = this.values[name]
    if (!Array.isArray(value)) throw this.refuse(`${name} must be an array.`)
    return value
  }

  strings(name: string): string[] {
    const value = this.array(name)
    if (!value.every(item => typeof item === 'string')) throw this.refuse(`${name} must hold strings only.`)
    return value
  }

  optionalString(name: string): string | undefined {
    return this.has(name) ? this.string(name) : undefined
  }

  optionalNumber(name: string): number | undefined {
    return this.has(name) ? this.number(name) : undefined
  }

  optionalInteger(name: string): number | undefined {
    return this.has(name) ? this.integer(name) : undefined
  }

  optionalBoolean(name: string): boolean | undefined {
    return this.has(name) ? this.boolean(name) : undefined
  }

  optionalObject(name: string): JsonObject | undefined {
    return this.has(name) ? this.object(name) : undefined
  }

  optionalIntegers(name: string): number[] | undefined {
    if (!this.has(name)) return undefined
    const value = this.array(name)
    if (!value.every(Number.isSafeInteger)) throw this.refuse(`${name} must hold integers only.`)
    return value as number[]
  }

  optionalStrings(name: string): string[] | undefined {
    return this.has(name) ? this.strings(name) : undefined
  }
}

/** Reads as lenient deployments do: null stands for an absent value, "10" for 10, and 10 for "10". */
export class LooseFields extends Fields {
  constructor(values: JsonObject, code: string | null = 'invalid_args') {
    super(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)), code)
  }

  override with(values: JsonObject): Fields {
    return new LooseFields(values, this.code)
  }

  override number(name: string): number {
    const value = this.values[name]
    const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
    return Number.isFinite(read) ? read : super.number(name)
  }

  override string(name: string): string {
    const value = this.values[name]
    return typeof value === 'number' ? String(value) : super.string(name)
  }
}
