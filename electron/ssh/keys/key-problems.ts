import { BerthError } from '#contract/problem.ts'
import type { KeyFault } from './private-key.ts'

/** A key's name for the user, within a sentence. */
export function keyTitle(name: string): string {
  if (name === 'berth') return 'Berth’s own key'
  if (name === 'agent') return 'the SSH agent’s keys'
  if (name.startsWith('agent/')) return 'the SSH agent’s key'
  return `the key “${name.replace(/^berth\//, '')}”`
}

/** The same at the beginning of a sentence. */
function Title(name: string): string {
  const title = keyTitle(name)
  return title.charAt(0).toUpperCase() + title.slice(1)
}

export function keyFileMissing(name: string): BerthError {
  return new BerthError({
    code: 'key_missing',
    message: name.startsWith('agent')
      ? `${Title(name)} cannot be used: no agent runs, or it holds no such key that Berth can use.`
      : `${Title(name)} is gone.`,
    advice: name.startsWith('agent')
      ? 'Add the key to the agent (ssh-add), or choose another in Settings. Hardware keys and certificates can’t be used.'
      : 'Choose another key in Settings.',
  })
}

/** The key needs its passphrase. The fact `key` is its name, for asking the user. */
export function keyLocked(name: string): BerthError {
  return new BerthError({
    code: 'key_locked',
    message: `${Title(name)} is protected by a passphrase, which Berth does not have.`,
    advice: 'Give its passphrase, or choose another key in Settings.',
    field: 'passphrase',
    facts: { key: name },
  })
}

export function wrongPassphrase(name: string): BerthError {
  return new BerthError({
    code: 'wrong_passphrase',
    message: `This passphrase does not open ${keyTitle(name)}.`,
    advice: 'Type it again.',
    field: 'passphrase',
  })
}

export function unusable(name: string, { message, advice }: KeyFault): BerthError {
  return new BerthError({ code: 'key_unusable', message: `${Title(name)} can’t be used. ${message}`, advice })
}

export function notAKey(fault: KeyFault): BerthError {
  return new BerthError({ code: 'not_a_key', ...fault, field: 'text' })
}

/** The agent took longer than the user should wait: it may be asking for something. */
export function agentSilent(): BerthError {
  return new BerthError({
    code: 'agent_silent',
    message: 'The SSH agent did not answer in time.',
    advice: 'See whether it asks for something, such as to be unlocked. Then try again.',
  })
}

export function nameTaken(name: string): BerthError {
  return new BerthError({
    code: 'key_exists',
    message: `There is a key “${name}” among Berth’s already.`,
    advice: 'Give it another name.',
    field: 'name',
  })
}

export function notRemovable(name: string): BerthError {
  return new BerthError({
    code: 'key_not_removable',
    message: `${Title(name)} is not one that Berth removes.`,
    advice: 'Berth removes the keys that were imported or made in it, and leaves its own and yours alone.',
  })
}
