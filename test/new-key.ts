import ssh2 from 'ssh2'

export interface KeyPair {
  private: string
  public: string
}

/** An Ed25519 key that ssh2 can parse: it drops leading zeros, which one in 256 public keys has. */
export function newKey(): KeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}
