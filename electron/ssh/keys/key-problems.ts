import { BerthError } from '#shared/problem.ts'
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
      ? `${Title(name)} can’t be used: no SSH agent is running, or it doesn’t hold this key.`
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
    message: `${Title(name)} has a passphrase, which Berth doesn’t know.`,
    advice: 'Enter its passphrase, or choose another key in Settings.',
    field: 'passphrase',
    facts: { key: name },
  })
}

export function wrongPassphrase(name: string): BerthError {
  return new BerthError({
    code: 'wrong_passphrase',
    message: `This passphrase doesn’t unlock ${keyTitle(name)}.`,
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
    advice: 'It may be waiting for you to unlock it. Then try again.',
  })
}

export function nameTaken(name: string): BerthError {
  return new BerthError({
    code: 'key_exists',
    message: `Berth already has a key “${name}”.`,
    advice: 'Choose another name.',
    field: 'name',
  })
}

export function notRemovable(name: string): BerthError {
  return new BerthError({
    code: 'key_not_removable',
    message: `Berth can’t remove ${keyTitle(name)}.`,
    advice: 'You can only remove keys that you imported or created in Berth.',
  })
}
