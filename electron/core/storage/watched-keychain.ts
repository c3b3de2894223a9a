import type { Keychain } from '#machine/machine.ts'

export interface KeychainWatch {
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
