import type { Instances } from '../instances/instances.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Caller } from './key-permissions.ts'

/** Finds callers by their keys. Other issuers of keys register with `recogniseBy`. */
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
