import { notFound } from '#simulator/errors.ts'
import type { JsonObject } from '#simulator/fields.ts'
import type { WorldClock } from '../clock.ts'
import { Draw, secret } from '../draw.ts'
import type { Account } from './account.ts'
import type { Caller, KeyPermissions, Permission } from './key-permissions.ts'

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
export class ApiKeys {
  readonly #seed: number
  readonly #clock: WorldClock
  readonly #firstId: number
  readonly #all = new Map<number, ApiKey>()
  #made = 0

  constructor(seed: number, clock: WorldClock, account: Account) {
    this.#seed = seed
    this.#clock = clock
    this.#firstId = new Draw(seed, 'key ids').integer(100_000, 900_000)
    this.#add('console', account.apiKey, null, {}, account.created)
  }

  /** Makes a key; without permissions it has full access. */
  create(name: string, permissions: KeyPermissions | null, keyParams: JsonObject): ApiKey {
    return this.#add(
      name,
      secret(this.#seed, 'api key', this.#made),
      permissions,
      keyParams,
      this.#clock.now(),
    )
  }

  /** Oldest first. */
  list(): ApiKey[] {
    return [...this.#all.values()]
  }

  /** Revokes a key. Throws 404 `not_found`. */
  revoke(id: number): void {
    if (!this.#all.delete(id)) throw notFound(`There is no key ${id}.`)
  }

  /** The caller with this secret; undefined where it is none of these keys. */
  caller(text: string): Caller | undefined {
    const found = this.list().find(({ key }) => key === text)
    if (!found) return undefined
    if (!found.permissions) return { kind: 'account', key: text }
    const permissions = new Set(Object.keys(found.permissions.api) as Permission[])
    return { kind: 'scoped', key: text, permissions }
  }

  #add(
    name: string,
    key: string,
    permissions: KeyPermissions | null,
    keyParams: JsonObject,
    created: number,
  ): ApiKey {
    const made = { id: this.#firstId + this.#made, name, key, permissions, keyParams, created }
    this.#made += 1
    this.#all.set(made.id, made)
    return made
  }
}
