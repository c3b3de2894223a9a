import type { BaseAgent, ParsedKey } from 'ssh2'
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
export interface Agent {
  /** Empty where no agent answers. */
  keys(): Promise<AgentKey[]>
  /** For the handshake: all of its keys, or the one with that fingerprint. */
  signer(fingerprint?: string): Promise<BaseAgent>
}

/** Milliseconds that an agent may take to list its keys; one that asks the user takes longer only to sign. */
const patience = 2000

/** `socket` is a path, a Windows pipe, or undefined where no agent was announced. */
export function openAgent(socket: string | undefined): Agent {
  async function identities(): Promise<ParsedKey[]> {
    if (socket === undefined || socket === '') return []
    const { default: ssh2 } = await import('ssh2')
    const agent = new ssh2.OpenSSHAgent(socket)
    return new Promise(resolve => {
      const giveUp = setTimeout(() => resolve([]), patience)
      agent.getIdentities((error, found) => {
        clearTimeout(giveUp)
        resolve(error ? [] : (found ?? []).filter(found => 'getPublicSSH' in found))
      })
    })
  }

  return {
    async keys() {
      return (await identities()).map(describe).filter(({ type }) => type !== '')
    },
    async signer(fingerprint) {
      const { signerOf } = await import('./agent-signer.ts')
      return signerOf(socket ?? '', fingerprint)
    },
  }
}

/** Whether a key's name means the agent's, all of them or one. */
export function isAgents(name: string): boolean {
  return name === 'agent' || name.startsWith('agent/')
}

/** Which of the agent's keys a name means; undefined for all of them. */
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
