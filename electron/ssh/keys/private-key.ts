import type { ParsedKey } from 'ssh2'

/** The result of reading a private key's text, with a passphrase if one is given. */
export type ReadKey =
  | { state: 'open'; key: ParsedKey }
  /** The key has a passphrase, and none was given. */
  | { state: 'locked' }
  | { state: 'wrong_passphrase' }
  | { state: 'unusable' }

export async function readPrivateKey(text: string, passphrase?: string): Promise<ReadKey> {
  const parsed = await parse(text, passphrase)
  if (!(parsed instanceof Error)) {
    // A container of several keys is read as a list; its first key is used.
    const key = Array.isArray(parsed) ? parsed[0] : parsed
    return key?.isPrivateKey() ? { state: 'open', key } : { state: 'unusable' }
  }
  if (passphrase === undefined) return { state: /encrypted/i.test(parsed.message) ? 'locked' : 'unusable' }
  const { state } = await readPrivateKey(text)
  return state === 'locked' ? { state: 'wrong_passphrase' } : { state: 'unusable' }
}

async function parse(text: string, passphrase: string | undefined): Promise<ParsedKey | ParsedKey[] | Error> {
  // Loaded only when a key is first read: no connection needs it before.
  const { default: ssh2 } = await import('ssh2')
  try {
    return ssh2.utils.parseKey(text, passphrase)
  } catch (error) {
    return error instanceof Error ? error : new Error('not a key')
  }
}
