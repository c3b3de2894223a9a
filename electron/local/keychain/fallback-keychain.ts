import { BerthError } from '../../contract/problem.ts'
import type { Keychain } from '../../ports/keychain.ts'

export interface FallbackKeychain extends Keychain {
  /** It answers, of late or again: what had to stay in memory goes into it, and who waits for it is told. */
  found(): Promise<void>
}

/**
 * A keychain that answers questions need not take secrets: it may have no collection, or a prompt that nobody answers.
 * What it does not take is kept in memory, and from then on `problem` says so.
 * @param missing why there is none yet; until it is found everything is in memory
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
        // Also where it is in memory: an older secret may have been kept under the same name before.
        await system.delete(name)
      } catch (error) {
        if (!inMemory || !(error instanceof BerthError)) throw error
      }
    },
  }
}
