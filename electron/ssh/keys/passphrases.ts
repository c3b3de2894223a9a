import type { Keychain } from '#machine/machine.ts'

/** The passphrases of keys, by the key's fingerprint: in memory, and in the keychain if the user chose that. */
export interface Passphrases {
  get(fingerprint: string): Promise<string | undefined>
  /** With `keep`, rejects if the keychain fails; the passphrase is then stored in memory only. */
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
