import type { Keychain } from '../../ports/keychain.ts'

/** The passphrases of keys, by the key's fingerprint: for this session in memory, by choice in the keychain. */
export interface Passphrases {
  get(fingerprint: string): Promise<string | undefined>
  /** Rejects when it is to be kept and the keychain does not take it; it then counts for this session. */
  remember(fingerprint: string, passphrase: string, keep: boolean): Promise<void>
  forget(fingerprint: string): Promise<void>
}

export function openPassphrases(keychain?: Pick<Keychain, 'get' | 'set' | 'delete'>): Passphrases {
  const inMemory = new Map<string, string>()
  const entry = (fingerprint: string) => `ssh-key ${fingerprint}`
  return {
    async get(fingerprint) {
      return inMemory.get(fingerprint) ?? (await keychain?.get(entry(fingerprint)).catch(() => undefined))
    },
    async remember(fingerprint, passphrase, keep) {
      inMemory.set(fingerprint, passphrase)
      if (keep) await keychain?.set(entry(fingerprint), passphrase)
    },
    async forget(fingerprint) {
      inMemory.delete(fingerprint)
      await keychain?.delete(entry(fingerprint))
    },
  }
}
