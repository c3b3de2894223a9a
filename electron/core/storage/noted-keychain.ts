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

interface KeychainWatch {
  /** Called with each secret that is stored or read. */
  onSecret: (secret: string) => void
  /** Called when it could not store a secret, and with undefined when it works again. */
  onProblem: (problem: string | undefined) => void
}

/** The same keychain, with these callbacks. */
export function watchedKeychain(keychain: Keychain, { onSecret, onProblem }: KeychainWatch): Keychain {
  return {
    ...(keychain.onBack && {
      onBack(tell: () => void) {
        keychain.onBack?.(() => {
          onProblem(keychain.problem)
          tell()
        })
      },
    }),
    get persistent() {
      return keychain.persistent
    },
    get problem() {
      return keychain.problem
    },
    async get(name) {
      const secret = await keychain.get(name)
      if (secret !== undefined) onSecret(secret)
      return secret
    },
    delete: name => keychain.delete(name),
    async set(name, secret) {
      onSecret(secret)
      await keychain.set(name, secret)
      if (keychain.problem !== undefined) onProblem(keychain.problem)
    },
  }
}
