import * as v from 'valibot'
import type { Keychain } from '../../ports/keychain.ts'
import { type DocumentOptions, openDocument } from '../remember/document.ts'

type Place = Omit<DocumentOptions<v.GenericSchema>, 'schema' | 'empty'>

/**
 * A keychain that notes on disk, by name alone, what is put into it, and does so before: killed in between, or where
 * deleting failed, an entry that nothing owns would be found by nobody, since a keychain tells nothing of what it has.
 * What `wanted` does not want of what was noted before is deleted at once.
 */
export async function notedKeychain(
  keychain: Keychain,
  place: Place,
  wanted: (name: string) => boolean,
): Promise<Keychain> {
  const noted = await openDocument({ ...place, schema: v.array(v.string()), empty: [] })

  async function remove(name: string): Promise<void> {
    await keychain.delete(name)
    await noted.record(names => names.filter(other => other !== name))
  }

  for (const name of noted.get()) if (!wanted(name)) await remove(name).catch(() => undefined)

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
  }
}
