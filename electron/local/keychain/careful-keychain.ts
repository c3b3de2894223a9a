import { BerthError } from '../../contract/problem.ts'
import type { Keychain } from '../../ports/keychain.ts'

/**
 * A keychain that answers questions need not take secrets: it may have no collection, or a prompt that nobody answers.
 * What it does not take is kept in memory, and from then on `problem` says so.
 */
export function carefulKeychain(system: Keychain): Keychain {
  const kept = new Map<string, string>()
  let problem: string | undefined
  return {
    get persistent() {
      return problem === undefined
    },
    get problem() {
      return problem
    },
    get: async name => kept.get(name) ?? system.get(name),
    async set(name, secret) {
      try {
        await system.set(name, secret)
        kept.delete(name)
      } catch (error) {
        if (!(error instanceof BerthError)) throw error
        kept.set(name, secret)
        problem = `API keys are kept in memory and must be entered again after a restart. ${error.problem.message}`
      }
    },
    async delete(name) {
      const inMemory = kept.delete(name)
      try {
        // Also where it is in memory: an older secret may have been kept under the same name before.
        await system.delete(name)
      } catch (error) {
        if (!inMemory || !(error instanceof BerthError)) throw error
      }
    },
  }
}
