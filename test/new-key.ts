import ssh2 from 'ssh2'

export interface KeyPair {
  private: string
  public: string
}

/** An Ed25519 key. ssh2 drops the zeros that one in 256 public keys begins with, and then reads it no more. */
export function newKey(): KeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}
