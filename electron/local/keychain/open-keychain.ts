import type { Clock } from '../../ports/clock.ts'
import type { Keychain } from '../../ports/keychain.ts'
import { memoryKeychain } from './memory-keychain.ts'
import { type KeychainLimits, type Keytar, probeKeychain, systemKeychain } from './system-keychain.ts'

const limits: KeychainLimits = { probe: 3_000, call: 60_000 }

/** The keychain of this machine, or one in memory that says why. Never rejects, and answers within a few seconds. */
export async function openKeychain(clock: Clock): Promise<Keychain> {
  try {
    const keytar = await loadKeytar()
    await probeKeychain(keytar, clock, limits)
    return systemKeychain(keytar, clock, limits)
  } catch (error) {
    return memoryKeychain(whyNot(error))
  }
}

/** Loaded when it is needed: it is native, and may be missing or miss its own libraries here. */
async function loadKeytar(): Promise<Keytar> {
  const loaded: { default: Keytar } = await import('keytar')
  return loaded.default
}

function whyNot(error: unknown): string {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '').replace(/\.$/, '') : ''
  return `This machine offers no keychain, so API keys are kept in memory and must be entered again after a restart (${reason}).`
}
