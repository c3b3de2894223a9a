import type { Problem } from '../../../contract/problem.ts'
import type { Keychain } from '../../../ports/keychain.ts'

/** Why there is no key to begin with. */
export function keyMissing({ persistent, problem }: Pick<Keychain, 'persistent' | 'problem'>): Problem {
  if (!persistent || problem !== undefined)
    return {
      code: 'key_missing',
      message: 'This machine has no keychain, so the API key was only kept until Berth ended.',
      advice: 'Enter the key once more.',
    }
  return {
    code: 'key_missing',
    message: 'The API key of this account is not in the keychain.',
    advice: 'Unlock the keychain and start Berth again, or enter the key once more.',
  }
}
