import type { Keychain } from '../../ports/keychain.ts'

/** Keeps secrets in memory until Berth ends, for a machine without a keychain. `problem` tells the user why. */
export function memoryKeychain(problem: string): Keychain {
  const secrets = new Map<string, string>()
  return {
    persistent: false,
    problem,
    get: async name => secrets.get(name),
    async set(name, secret) {
      secrets.set(name, secret)
    },
    async delete(name) {
      secrets.delete(name)
    },
  }
}
