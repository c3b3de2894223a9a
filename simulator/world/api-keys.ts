import { refusal, type ServiceError } from '../errors.ts'
import { isObject, type JsonObject } from '../fields.ts'
import type { Account } from './account.ts'
import type { WorldClock } from './clock.ts'
import { Collection } from './collection.ts'
import { Draw, secret } from './draw.ts'

/** The permissions of scoped keys (the categories of section 5, and others that deployments have). */
export const permissions = [
  'misc',
  'user_read',
  'user_write',
  'instance_read',
  'instance_write',
  'machine_read',
  'machine_write',
] as const

/** The same, with those that only the public deployment has. */
export const publicPermissions = [
  ...permissions,
  'billing_read',
  'billing_write',
  'team_read',
  'team_write',
] as const

export type Permission = (typeof publicPermissions)[number]

/** The caller, by the request's key. */
export type Caller =
  /** A key with full access, or a session: everything is allowed. */
  | { kind: 'account'; key: string }
  /** A key with its own permissions. */
  | { kind: 'scoped'; key: string; permissions: KeyPermissions['api'] }
  /** The key inside an instance: it starts, stops and destroys that instance. */
  | { kind: 'instance'; key: string; instanceId: number }
  /** No key; only some routes allow this. */
  | { kind: 'anonymous' }

/**
 * A key's permissions in the form of section 5.3. A category without calls allows all of its calls; with some, only
 * these, and of each only those whose parameters fulfil its constraints.
 */
export interface KeyPermissions {
  api: Partial<Record<Permission, CategoryCalls>>
}

/** The calls that permissions can name: the public deployment's documentation has one, the other is by analogy. */
export const limitedCalls = ['api.instance.request_logs', 'api.commands.rclone'] as const
export type LimitedCall = (typeof limitedCalls)[number]

const comparisons = {
  eq: (one: number, other: number) => one === other,
  lte: (one: number, other: number) => one <= other,
  gte: (one: number, other: number) => one >= other,
} as const
type Comparison = keyof typeof comparisons
type Constraints = Record<string, Partial<Record<Comparison, number>>>
type CategoryCalls = Partial<Record<LimitedCall, { constraints?: Constraints }>>

/** Whether a key may make a call of a category with these parameters. */
export function allowsCall(
  { permissions }: Extract<Caller, { kind: 'scoped' }>,
  { permission, call }: { permission: Permission; call?: LimitedCall | undefined },
  parameters: Readonly<Record<string, unknown>>,
): boolean {
  const calls = permissions[permission]
  if (!calls) return false
  if (!Object.keys(calls).some(isLimitedCall)) return true
  const limited = call && calls[call]
  if (!limited) return false
  return Object.entries(limited.constraints ?? {}).every(([name, wanted]) =>
    Object.entries(wanted).every(([comparison, bound]) =>
      comparisons[comparison as Comparison](Number(parameters[name] ?? Number.NaN), bound),
    ),
  )
}

/**
 * Reads `permissions` of a key's creation; `known` are the existing categories. A key cannot give more than it has
 * itself. Throws 400 `missing_permissions` without any and 400 `invalid_permissions` for anything else.
 */
export function readKeyPermissions(
  value: unknown,
  giver: Caller,
  known: readonly Permission[],
): KeyPermissions {
  if (value === undefined) throw missing()
  if (!isObject(value)) throw invalid('permissions must be an object.')
  const stray = Object.keys(value).find(name => name !== 'api')
  if (stray !== undefined) throw invalid(`permissions are keyed by api; there is no ${stray}.`)
  const { api } = value
  if (api === undefined) throw missing()
  if (!isObject(api)) throw invalid('permissions: api must be an object.')
  const entries = Object.entries(api).map(([name, constraints]) =>
    readCategory(name, constraints, giver, known),
  )
  if (entries.length === 0) throw missing()
  return { api: Object.fromEntries(entries) }
}

function readCategory(
  asked: string,
  constraints: unknown,
  giver: Caller,
  known: readonly Permission[],
): [Permission, CategoryCalls] {
  const name = known.find(category => category === asked)
  if (name === undefined) throw invalid(`There is no category ${asked}.`)
  if (!isObject(constraints)) throw invalid(`permissions: the constraints of ${name} must be an object.`)
  if (giver.kind === 'scoped' && Object.keys(giver.permissions[name] ?? { none: true }).length > 0) {
    throw invalid(`This key lacks ${name} itself, so it cannot give it.`)
  }
  const calls = Object.entries(constraints).map(([call, limits]) => readCall(call, limits))
  return [name, Object.fromEntries(calls)]
}

function isLimitedCall(name: string): name is LimitedCall {
  return limitedCalls.some(known => known === name)
}

/** Other names than those of calls are stored and shown, and limit nothing: their meaning is not shown (section 5.3). */
function readCall(call: string, limits: unknown): [string, unknown] {
  if (!isLimitedCall(call)) return [call, limits]
  if (!isObject(limits)) throw invalid(`permissions: ${call} must be an object.`)
  const { constraints = {} } = limits
  if (!isObject(constraints)) throw invalid(`permissions: the constraints of ${call} must be an object.`)
  for (const [name, wanted] of Object.entries(constraints)) {
    const isRight =
      isObject(wanted) &&
      Object.entries(wanted).every(([key, bound]) => key in comparisons && typeof bound === 'number')
    if (!isRight) throw invalid(`permissions: ${name} takes eq, lte and gte with a number.`)
  }
  return [call, limits]
}

function missing(): ServiceError {
  return refusal(400, 'missing_permissions', 'permissions must name at least one category below api.')
}

function invalid(msg: string): ServiceError {
  return refusal(400, 'invalid_permissions', msg)
}

/** A key of the account. `created` in world milliseconds. */
export interface ApiKey {
  readonly id: number
  readonly name: string
  /** The secret in full. */
  readonly key: string
  /** Null for full access. */
  readonly permissions: KeyPermissions | null
  readonly keyParams: JsonObject
  readonly created: number
}

/** The account's keys: the first, with full access, as if from the web console, and those created since. */
export class ApiKeys extends Collection<ApiKey> {
  readonly #seed: number
  readonly #clock: WorldClock

  constructor(seed: number, clock: WorldClock, { apiKey, created }: Account) {
    super('key', new Draw(seed, 'key ids').integer(100_000, 900_000))
    this.#seed = seed
    this.#clock = clock
    this.add(id => ({ id, name: 'console', key: apiKey, permissions: null, keyParams: {}, created }))
  }

  /** Makes a key; without permissions it has full access. */
  create(name: string, permissions: KeyPermissions | null, keyParams: JsonObject): ApiKey {
    const created = this.#clock.now()
    return this.add(id => {
      const key = secret(this.#seed, 'api key', id)
      return { id, name, key, permissions, keyParams, created }
    })
  }

  /** The caller with this secret; undefined where it is none of these keys. */
  caller(text: string): Caller | undefined {
    const found = this.list().find(({ key }) => key === text)
    if (!found) return undefined
    if (!found.permissions) return { kind: 'account', key: text }
    return { kind: 'scoped', key: text, permissions: found.permissions.api }
  }
}
