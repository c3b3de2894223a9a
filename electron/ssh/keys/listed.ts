import { berthKey, type SshKey } from '../../contract/instance/ssh-key.ts'
import { type AgentKey, isAgents } from './agent.ts'
import { keyFilesIn } from './key-folder.ts'
import type { OwnKey } from './own-key.ts'
import type { Passphrases } from './passphrases.ts'

const open = { needsPassphrase: false, unlocked: false } as const

/** Berth's own key for the account, as it is listed. */
export function listedOwn({ publicKey, fingerprint }: OwnKey): SshKey {
  return { name: berthKey, from: 'berth', type: 'ssh-ed25519', fingerprint, publicKey, ...open }
}

/** The agent's, as they are listed: all of them as one, then each. With one key alone, that one is the agent. */
export function listedAgents(agents: readonly AgentKey[]): SshKey[] {
  const [first] = agents
  if (!first) return []
  const each = agents.length > 1 ? agents : []
  const named = (key: AgentKey, name: string): SshKey => ({ ...key, ...open, name, from: 'agent' })
  return [named(first, 'agent'), ...each.map(key => named(key, `agent/${key.fingerprint}`))]
}

/** The key files of a folder, as they are listed: Berth's others, or those of the user that no other name hides. */
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
