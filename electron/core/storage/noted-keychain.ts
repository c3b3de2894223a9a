import * as v from 'valibot'
import type { Keychain } from '#machine/machine.ts'
import { type DocumentOptions, openDocument } from './json-file.ts'

type Place = Omit<DocumentOptions<v.GenericSchema>, 'schema' | 'empty'>

/**
 * A keychain that stores the names of its entries on disk, each before the entry is made: a keychain cannot list its
 * entries, so after a kill or a failed deletion nothing else would find one without an owner.
 */
export interface NotedKeychain extends Keychain {
  /** Deletes all entries, also of earlier runs, that are not wanted. Never rejects. */
  keepOnly(wanted: ReadonlySet<string>): Promise<void>
}

export async function notedKeychain(keychain: Keychain, place: Place): Promise<NotedKeychain> {
  const noted = await openDocument({ ...place, schema: v.array(v.string()), empty: [] })

  async function remove(name: string): Promise<void> {
    await keychain.delete(name)
    await noted.record(names => names.filter(other => other !== name))
  }

  return {
    get persistent() {
      return keychain.persistent
    },
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
