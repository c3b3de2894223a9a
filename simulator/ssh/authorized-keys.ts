import ssh2, { type ParsedKey, type PublicKeyAuthContext } from 'ssh2'

const acceptedTypes = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/

/**
 * Whether this attempt may continue: its key is in `authorizedKeys` (lines of an `authorized_keys` file) and any
 * signature is that key's over this session. A client first asks without a signature whether a key would do; ssh2 then
 * says so and does not log it in. RSA signatures over SHA-1 are refused.
 */
export function admits(attempt: PublicKeyAuthContext, authorizedKeys: readonly string[]): boolean {
  if (attempt.key.algo === 'ssh-rsa' && attempt.hashAlgo === undefined) return false
  const key = authorizedKeys.map(parse).find(candidate => candidate?.getPublicSSH().equals(attempt.key.data))
  if (key === undefined || key.type !== attempt.key.algo) return false
  if (attempt.signature === undefined) return true
  if (attempt.blob === undefined) return false
  // ssh2 gives an Error, not false, for a signature it cannot read.
  return key.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true
}

function parse(line: string): ParsedKey | undefined {
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(line.trim())
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  if (key === undefined || key instanceof Error || key.isPrivateKey()) return undefined
  return acceptedTypes.test(key.type) ? key : undefined
}
