import * as v from 'valibot'
import type { Keychain } from '#platform/platform.ts'
import { type DocumentPlace, openDocument } from './json-file.ts'

/**
 * A keychain that stores the names of its entries on disk, each before the entry is made: a keychain cannot list its
 * entries, so after a kill or a failed deletion nothing else would find one without an owner.
 */
export interface NotedKeychain extends Keychain {
  /** Deletes all entries, also of earlier runs, that are not wanted. Never rejects. */
  keepOnly(names: ReadonlySet<string>): Promise<void>
}

export async function notedKeychain(keychain: Keychain, place: DocumentPlace): Promise<NotedKeychain> {
  const noted = await openDocument(place, 'secrets', v.array(v.string()), [])

  async function remove(name: string): Promise<void> {
    await keychain.delete(name)
    await noted.record(names => names.filter(other => other !== name))
  }

  return {
    get problem() {
      return keychain.problem
    },
    get: name => keychain.get(name),
    async set(name, secret) {
      await noted.write(names => [...names.filter(other => other !== name), name])
      await keychain.set(name, secret)
    },
    delete: remove,
    async keepOnly(wanted) {
      for (const name of noted.get()) if (!wanted.has(name)) await remove(name).catch(() => undefined)
    },
  }
}

/** The same keychain, which says each secret that it stores or reads. */
export function learnedKeychain(keychain: Keychain, onSecret: (secret: string) => void): Keychain {
  return {
    get problem() {
      return keychain.problem
    },
    onChange: tell => keychain.onChange?.(tell),
    async get(name) {
      const secret = await keychain.get(name)
      if (secret !== undefined) onSecret(secret)
      return secret
    },
    delete: name => keychain.delete(name),
    set(name, secret) {
      onSecret(secret)
      return keychain.set(name, secret)
    },
  }
}
