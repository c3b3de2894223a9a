import type { Keychain } from '../ports/keychain.ts'

/** The same keychain, with `onProblem` told whenever it turned out not to take what it was given. */
export function watchedKeychain(keychain: Keychain, onProblem: (problem: string) => void): Keychain {
  return {
    get persistent() {
      return keychain.persistent
    },
    get problem() {
      return keychain.problem
    },
    get: name => keychain.get(name),
    delete: name => keychain.delete(name),
    async set(name, secret) {
      await keychain.set(name, secret)
      if (keychain.problem !== undefined) onProblem(keychain.problem)
    },
  }
}
