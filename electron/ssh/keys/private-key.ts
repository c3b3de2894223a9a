import type { ParsedKey } from 'ssh2'

/** What the text of a private key says, opened with its passphrase where one is given. */
export type ReadKey =
  | { state: 'open'; key: ParsedKey }
  /** It has a passphrase, and none was given. */
  | { state: 'locked' }
  | { state: 'wrong_passphrase' }
  | { state: 'unusable' }

export async function readPrivateKey(text: string, passphrase?: string): Promise<ReadKey> {
  const parsed = await parse(text, passphrase)
  if (!(parsed instanceof Error)) {
    // A container of several keys is read as a list; the first is the one that files are named for.
    const key = Array.isArray(parsed) ? parsed[0] : parsed
    return key?.isPrivateKey() ? { state: 'open', key } : { state: 'unusable' }
  }
  if (passphrase === undefined) return { state: /encrypted/i.test(parsed.message) ? 'locked' : 'unusable' }
  const { state } = await readPrivateKey(text)
  return state === 'locked' ? { state: 'wrong_passphrase' } : { state: 'unusable' }
}

async function parse(text: string, passphrase: string | undefined): Promise<ParsedKey | ParsedKey[] | Error> {
  // Loaded when a key is first read: until then nobody gets in anywhere.
  const { default: ssh2 } = await import('ssh2')
  try {
    return ssh2.utils.parseKey(text, passphrase)
  } catch (error) {
    return error instanceof Error ? error : new Error('not a key')
  }
}
