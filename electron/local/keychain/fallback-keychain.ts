import { BerthError } from '#contract/problem.ts'
import type { Keychain } from '#ports/keychain.ts'

export interface FallbackKeychain extends Keychain {
  /** Called once the system's keychain answers: moves the secrets in memory into it and calls the listeners. */
  found(): Promise<void>
}

/**
 * A keychain that answers reads may still refuse writes: it may have no collection, or a prompt that nobody answers.
 * Refused secrets are kept in memory, and `problem` says so from then on.
 * @param missing why there is no keychain yet; until `found` is called all secrets are in memory
 */
export function fallbackKeychain(system: Keychain, missing?: string): FallbackKeychain {
  const kept = new Map<string, string>()
  const waiting: (() => void)[] = []
  let away = missing !== undefined
  let problem = missing

  async function set(name: string, secret: string): Promise<void> {
    kept.set(name, secret)
    if (away) return
    try {
      await system.set(name, secret)
      kept.delete(name)
    } catch (error) {
      if (!(error instanceof BerthError)) throw error
      problem = `API keys are kept in memory and must be entered again after a restart. ${error.problem.message}`
    }
  }

  return {
    get persistent() {
      return problem === undefined
    },
    get problem() {
      return problem
    },
    onBack: tell => void waiting.push(tell),
    async found() {
      away = false
      problem = undefined
      for (const [name, secret] of kept) await set(name, secret)
      for (const tell of waiting) tell()
    },
    get: async name => kept.get(name) ?? (away ? undefined : system.get(name)),
    set,
    async delete(name) {
      const inMemory = kept.delete(name)
      if (away) return
      try {
        // Even where it is in memory: the keychain may hold an older secret under the same name.
        await system.delete(name)
      } catch (error) {
        if (!inMemory || !(error instanceof BerthError)) throw error
      }
    },
  }
}
