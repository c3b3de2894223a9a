import ssh2, { type IdentityCallback, type ParsedKey } from 'ssh2'
import { fingerprintOf } from './openssh-key.ts'

/**
 * A signer that uses the agent at the socket: with the keys in `first` before the others, since servers limit how many
 * may be offered, and with those in `only` alone if it is given. Both are fingerprints.
 */
export function signerOf(
  socket: string,
  first: ReadonlySet<string>,
  only: ReadonlySet<string> | undefined,
): ssh2.BaseAgent {
  return new ChosenKeys(new ssh2.OpenSSHAgent(socket), first, only)
}

function isKey(key: object): key is ParsedKey {
  return 'getPublicSSH' in key
}

class ChosenKeys extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: ssh2.OpenSSHAgent
  readonly #first: ReadonlySet<string>
  readonly #only: ReadonlySet<string> | undefined

  constructor(agent: ssh2.OpenSSHAgent, first: ReadonlySet<string>, only: ReadonlySet<string> | undefined) {
    super()
    this.#agent = agent
    this.#first = first
    this.#only = only
  }

  getIdentities(done: IdentityCallback<ParsedKey>): void {
    this.#agent.getIdentities((error, keys) => {
      if (error || !keys) {
        done(error, undefined)
        return
      }
      const usable = keys
        .filter(isKey)
        .map(key => ({ key, fingerprint: fingerprintOf(key.getPublicSSH()) }))
        .filter(({ fingerprint }) => this.#only?.has(fingerprint) ?? true)
      const inOrder = [
        ...usable.filter(({ fingerprint }) => this.#first.has(fingerprint)),
        ...usable.filter(({ fingerprint }) => !this.#first.has(fingerprint)),
      ]
      done(
        undefined,
        inOrder.map(({ key }) => key),
      )
    })
  }

  sign(...args: unknown[]): void {
    Reflect.apply(this.#agent.sign, this.#agent, args)
  }
}
