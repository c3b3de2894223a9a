import type { BaseAgent, ParsedKey } from 'ssh2'
import { agentSilent } from './key-problems.ts'
import { fingerprintOf, typeOf } from './openssh-key.ts'

/** A key that the user's SSH agent holds. */
export interface AgentKey {
  type: string
  fingerprint: string
  /** One line: type, base64, comment. */
  publicKey: string
  comment: string
}

/** The user's SSH agent. The private halves stay in it: it signs. */
export type Agent = ReturnType<typeof openAgent>

/** Milliseconds for an agent to list its keys, which may ask the user first, or reach over a network. */
const patience = 15_000

/** `socket` is a path or a Windows pipe; undefined if there is no agent. */
export function openAgent(socket: string | undefined) {
  async function identities(): Promise<ParsedKey[]> {
    if (socket === undefined || socket === '') return []
    const { default: ssh2 } = await import('ssh2')
    const agent = new ssh2.OpenSSHAgent(socket)
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => reject(agentSilent()), patience)
      agent.getIdentities((error, found) => {
        clearTimeout(giveUp)
        resolve(error ? [] : (found ?? []).filter(found => 'getPublicSSH' in found))
      })
    })
  }

  return {
    /** Empty if there is no agent. Throws `agent_silent`. */
    async keys(): Promise<AgentKey[]> {
      return (await identities()).map(describe).filter(({ type }) => type !== '')
    },
    /**
     * Signs in the handshake with the agent's keys, those of the fingerprints in `first` before the others, and with
     * those in `only` alone if it is given.
     */
    async signer(first: ReadonlySet<string>, only?: ReadonlySet<string>): Promise<BaseAgent> {
      const { signerOf } = await import('./agent-signer.ts')
      return signerOf(socket ?? '', first, only)
    },
  }
}

/** Whether a key's name stands for the agent's keys: all of them, or one. */
export function isAgents(name: string): boolean {
  return name === 'agent' || name.startsWith('agent/')
}

/** The fingerprint in the name of an agent's key; undefined for all of them. */
export function agentFingerprint(name: string): string | undefined {
  return name === 'agent' ? undefined : name.slice('agent/'.length)
}

function describe(key: ParsedKey): AgentKey {
  const blob = key.getPublicSSH()
  const comment = (key.comment ?? '').replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  const type = typeOf(blob)
  return {
    type,
    fingerprint: fingerprintOf(blob),
    publicKey: [type, blob.toString('base64'), comment].filter(part => part !== '').join(' '),
    comment,
  }
}
