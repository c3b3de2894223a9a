import ssh2, { type BaseAgent, type IdentityCallback, type ParsedKey } from 'ssh2'
import { fingerprintOf } from './openssh-key.ts'

/** A signer that uses the agent at the socket: with all of its keys, or with the one of this fingerprint. */
export function signerOf(socket: string, fingerprint: string | undefined): BaseAgent {
  const agent = new ssh2.OpenSSHAgent(socket)
  return fingerprint === undefined ? agent : new OneKey(agent, fingerprint)
}

function isKey(key: object): key is ParsedKey {
  return 'getPublicSSH' in key
}

/** An agent that offers only one of its keys, since servers limit how many may be offered. */
class OneKey extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: ssh2.OpenSSHAgent
  readonly #fingerprint: string

  constructor(agent: ssh2.OpenSSHAgent, fingerprint: string) {
    super()
    this.#agent = agent
    this.#fingerprint = fingerprint
  }

  getIdentities(done: IdentityCallback<ParsedKey>): void {
    this.#agent.getIdentities((error, keys) =>
      done(
        error,
        keys?.filter(isKey).filter(key => fingerprintOf(key.getPublicSSH()) === this.#fingerprint),
      ),
    )
  }

  sign(...args: unknown[]): void {
    Reflect.apply(this.#agent.sign, this.#agent, args)
  }
}
