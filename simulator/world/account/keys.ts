import type { Instances } from '../instances/instances.ts'
import type { ApiKeys } from './api-keys.ts'

/** What a route needs of a scoped key (the categories of section 5, with the rest that deployments have). */
export const permissions = [
  'misc',
  'user_read',
  'user_write',
  'instance_read',
  'instance_write',
  'machine_read',
  'machine_write',
] as const

/** Those and the ones that the public deployment has besides. */
export const publicPermissions = [
  ...permissions,
  'billing_read',
  'billing_write',
  'team_read',
  'team_write',
] as const

export type Permission = (typeof publicPermissions)[number]

/** Who calls, by the key that came with the request. */
export type Caller =
  /** A key with full access, or a session: everything is allowed. */
  | { kind: 'account'; key: string }
  /** A key with permissions of its own. */
  | { kind: 'scoped'; key: string; permissions: ReadonlySet<Permission> }
  /** The key inside an instance: it starts, stops and destroys that instance. */
  | { kind: 'instance'; key: string; instanceId: number }
  /** No key at all; only routes that say so are open to it. */
  | { kind: 'anonymous' }

/** Where callers are recognised by their key. Other issuers of keys add themselves with `recogniseBy`. */
export class Keys {
  readonly #sources: ((key: string) => Caller | undefined)[] = []

  constructor(apiKeys: ApiKeys, instances: Instances) {
    this.recogniseBy(key => apiKeys.caller(key))
    this.recogniseBy(key => {
      const instance = instances.list().find(({ apiKey }) => apiKey === key)
      return instance && { kind: 'instance', key, instanceId: instance.id }
    })
  }

  /** Adds a source of callers, asked after those before it. */
  recogniseBy(source: (key: string) => Caller | undefined): void {
    this.#sources.push(source)
  }

  /** The caller a key belongs to; undefined for a key that nobody issued or that was revoked. */
  caller(key: string): Caller | undefined {
    for (const source of this.#sources) {
      const caller = source(key)
      if (caller) return caller
    }
    return undefined
  }
}
