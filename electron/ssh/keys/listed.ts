import { berthKey, type SshKey } from '#contract/instance/ssh-key.ts'
import { type AgentKey, isAgents } from './agent.ts'
import { keyFilesIn } from './key-folder.ts'
import type { OwnKey } from './own-key.ts'
import type { Passphrases } from './passphrases.ts'

const open = { needsPassphrase: false, unlocked: false } as const

/** The list entry of Berth's own key for the account. */
export function listedOwn({ publicKey, fingerprint }: OwnKey): SshKey {
  return { name: berthKey, from: 'berth', type: 'ssh-ed25519', fingerprint, publicKey, ...open }
}

/** The list entries of the agent's keys: one for all of them, then one for each if there are several. */
export function listedAgents(agents: readonly AgentKey[]): SshKey[] {
  const [first] = agents
  if (!first) return []
  const each = agents.length > 1 ? agents : []
  const named = (key: AgentKey, name: string): SshKey => ({ ...key, ...open, name, from: 'agent' })
  return [named(first, 'agent'), ...each.map(key => named(key, `agent/${key.fingerprint}`))]
}

/** The list entries of a folder's keys. User's keys named like Berth's own or the agent's are left out. */
export async function listedIn(
  folder: string,
  from: 'berth' | 'user',
  passphrases: Passphrases,
): Promise<SshKey[]> {
  const found = await keyFilesIn(folder)
  return Promise.all(
    found
      .filter(({ name }) => from === 'berth' || (name !== berthKey && !isAgents(name)))
      .map(async ({ name, type, fingerprint, publicKey, locked: needsPassphrase }) => ({
        name: from === 'berth' ? `berth/${name}` : name,
        from,
        type,
        fingerprint,
        publicKey,
        needsPassphrase,
        unlocked: needsPassphrase && (await passphrases.get(fingerprint)) !== undefined,
      })),
  )
}
