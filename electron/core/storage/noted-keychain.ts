import * as v from 'valibot'
import type { Keychain } from '../../ports/keychain.ts'
import { type DocumentOptions, openDocument } from './json-file.ts'

type Place = Omit<DocumentOptions<v.GenericSchema>, 'schema' | 'empty'>

/**
 * A keychain that notes on disk, by name alone, what is put into it, and does so before: killed in between, or where
 * deleting failed, an entry that nothing owns would be found by nobody, since a keychain tells nothing of what it has.
 */
export interface NotedKeychain extends Keychain {
  /** Deletes what was put there, by this Berth or an earlier one, and is not wanted. Never rejects. */
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
