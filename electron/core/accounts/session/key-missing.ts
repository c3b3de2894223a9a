import type { Problem } from '#contract/problem.ts'
import type { Keychain } from '#machine/machine.ts'

const advice = 'Unlock the keychain and try again, or enter the key once more.'

/** The problem of an account without a readable key. */
export function keyMissing({ persistent, problem }: Pick<Keychain, 'persistent' | 'problem'>): Problem {
  if (!persistent || problem !== undefined)
    return {
      code: 'key_missing',
      message: 'The keychain isn’t available, so Berth doesn’t have this account’s API key.',
      advice,
    }
  return {
    code: 'key_missing',
    message: 'This account’s API key isn’t in the keychain.',
    advice,
  }
}
