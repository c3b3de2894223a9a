import { join } from 'node:path'
import type { BaseAgent, ParsedKey } from 'ssh2'
import type { Files, Keychain } from '#platform/platform.ts'
import { berthKey, type SshKey } from '#shared/instance/ssh-key.ts'
import { type Agent, type AgentKey, agentFingerprint, isAgents, openAgent } from './agent.ts'
import {
  deleteOwn,
  findKeyFile,
  type KeyFile,
  keyFilesIn,
  loadOrMakeOwn,
  namesIn,
  type OwnKey,
  textOf,
} from './key-folder.ts'
import {
  keyFileMissing,
  keyLocked,
  nameTaken,
  notAKey,
  notRemovable,
  unusable,
  wrongPassphrase,
} from './key-problems.ts'
import { fingerprintOf, makeKeyPair, typeOf } from './openssh-key.ts'
import { readPrivateKey } from './private-key.ts'

/** A key's public half, and the file to give to the system's ssh. */
export interface LocatedKey {
  name: string
  publicKey: string
  fingerprint: string
  /** The private half's file; for a key of the agent, the public half's, which ssh accepts as well. */
  path: string
}

/** How a key authenticates: by its private half, which stays in this process, or by an agent that signs. */
export type KeyProof = { type: 'publickey'; key: ParsedKey } | { type: 'agent'; agent: BaseAgent }

/** A key that is ready to authenticate. */
export interface LoadedKey extends LocatedKey {
  proof: KeyProof
}

export type Keys = ReturnType<typeof openKeys>

export interface KeyNeeds {
  files: Files
  /** If undefined, there are only the keys that all accounts share. */
  account: string | undefined
  /** The user's home folder; keys in its `.ssh` are only read. */
  home: string
  passphrases?: Passphrases
  agent?: Agent
}

/**
 * The keys for an account's instances, by name: `berth` is the one that Berth makes for the account; `berth/NAME`
 * another in Berth's folder; `agent` all keys of the SSH agent, and `agent/SHA256:…` one of them; any other name is a
 * file in `~/.ssh`. All but the first are the same for every account.
 */
export function openKeys({
  files,
  account,
  home,
  passphrases = openPassphrases(),
  agent = openAgent(undefined),
}: KeyNeeds) {
  const usersFolder = join(home, '.ssh')
  const ownFolder = files.path('keys')
  let own: Promise<OwnKey> | undefined

  /** The load is shared, so that two first uses get the same key. */
  async function ownKey(): Promise<OwnKey> {
    if (account === undefined) throw keyFileMissing(berthKey)
    own ??= loadOrMakeOwn(files, account).catch(error => {
      own = undefined
      throw error
    })
    return own
  }

  /** Throws `key_missing`. */
  async function fileOf(name: string): Promise<KeyFile> {
    const among = name.startsWith('berth/')
      ? findKeyFile(ownFolder, name.slice('berth/'.length))
      : findKeyFile(usersFolder, name)
    const found = await among
    if (found === undefined) throw keyFileMissing(name)
    return found
  }

  /** The fingerprints of the agent's keys that were used before, one of which instances have. */
  async function usedOfAgent(): Promise<ReadonlySet<string>> {
    const written = await files.list('agent-keys').catch(() => [])
    return new Set(written.map(({ name }) => Buffer.from(name.replace(/\.pub$/, ''), 'hex').toString()))
  }

  /**
   * The agent's key of this name; writes its public half to a file for the system's ssh. For all of them it is one that
   * was used before, wherever it stands among them now: an agent's order changes as keys are added again.
   */
  async function agentKey(name: string): Promise<LocatedKey> {
    const wanted = agentFingerprint(name)
    const keys = await agent.keys()
    const used = await usedOfAgent()
    const key =
      wanted === undefined
        ? (keys.find(({ fingerprint }) => used.has(fingerprint)) ?? keys[0])
        : keys.find(({ fingerprint }) => fingerprint === wanted)
    if (key === undefined) throw keyFileMissing(name)
    const file = `agent-keys/${Buffer.from(key.fingerprint).toString('hex')}.pub`
    if ((await files.read(file)) !== `${key.publicKey}\n`) await files.write(file, `${key.publicKey}\n`)
    return { name, publicKey: key.publicKey, fingerprint: key.fingerprint, path: files.path(file) }
  }

  async function locate(name: string): Promise<LocatedKey> {
    if (isAgents(name)) return agentKey(name)
    const { publicKey, fingerprint, path } = name === berthKey ? await ownKey() : await fileOf(name)
    return { name, publicKey, fingerprint, path }
  }

  async function load(name: string): Promise<LoadedKey> {
    const located = await locate(name)
    if (isAgents(name)) {
      const fingerprint = agentFingerprint(name)
      const only = fingerprint === undefined ? undefined : new Set([fingerprint])
      return { ...located, proof: { type: 'agent', agent: await agent.signer(await usedOfAgent(), only) } }
    }
    if (name === berthKey) return { ...located, proof: { type: 'publickey', key: (await ownKey()).key } }
    const text = (await textOf(located.path)) ?? ''
    let read = await readPrivateKey(text)
    if (read.state === 'locked') {
      const passphrase = await passphrases.get(located.fingerprint)
      if (passphrase !== undefined) read = await readPrivateKey(text, passphrase)
    }
    // A stored passphrase that no longer fits counts as none.
    if (read.state === 'locked' || read.state === 'wrong_passphrase') throw keyLocked(name)
    if (read.state === 'unusable') throw unusable(name, read.fault)
    return { ...located, proof: { type: 'publickey', key: read.key } }
  }

  return {
    /** The public half, to attach to an instance; needs no passphrase. Throws `key_missing`. */
    locate,
    /** Throws `key_missing`, `key_locked` if its passphrase is needed, or `key_unusable`. */
    load,
    /** The account's own, made on first use, Berth's others, the agent's, then those in `~/.ssh`, by name. */
    async list(): Promise<SshKey[]> {
      const [mine, others, agents, users] = await Promise.all([
        account === undefined ? undefined : ownKey(),
        listedIn(ownFolder, 'berth', passphrases),
        agent.keys().catch(() => []),
        listedIn(usersFolder, 'user', passphrases),
      ])
      return [...(mine ? [listedOwn(mine)] : []), ...others, ...listedAgents(agents), ...users]
    },
    /** Checks a passphrase and stores it in memory, with `keep` in the keychain too. Throws `wrong_passphrase` too. */
    async unlock(name: string, passphrase: string, keep: boolean): Promise<void> {
      const { path, fingerprint } = await fileOf(name)
      const read = await readPrivateKey((await textOf(path)) ?? '', passphrase)
      if (read.state === 'unusable') throw unusable(name, read.fault)
      if (read.state !== 'open') throw wrongPassphrase(name)
      await passphrases.remember(fingerprint, passphrase, keep)
    },
    /** Forgets the key's passphrase. */
    async lock(name: string): Promise<void> {
      await passphrases.forget((await fileOf(name)).fingerprint)
    },
    /**
     * Adds a private key's text to Berth's keys, still encrypted if it was, and readable by the user alone; returns its
     * name. Throws `not_a_key`, `key_exists`, `key_locked` if a passphrase is needed to read it, or `wrong_passphrase`.
     */
    import: (name: string, text: string, passphrase?: string): Promise<string> =>
      importKey({ files, passphrases }, name, text, passphrase),
    /** Makes another key of Berth's, and returns its name. Throws `key_exists`. */
    generate: (name: string): Promise<string> => generateKey(files, name),
    /** Deletes one of Berth's other keys and its passphrase. Throws `key_not_removable` or `key_missing`. */
    async remove(name: string): Promise<void> {
      if (!name.startsWith('berth/')) throw notRemovable(name)
      const { fingerprint } = await fileOf(name)
      const file = `keys/${name.slice('berth/'.length)}`
      await files.delete(file)
      await files.delete(`${file}.pub`)
      // The key is deleted, even if the keychain fails.
      await passphrases.forget(fingerprint).catch(() => undefined)
    },
    /** Deletes the account's own key, when the account is removed. */
    async deleteOwn(): Promise<void> {
      if (account !== undefined) await deleteOwn(files, account)
    },
  }
}

const open = { needsPassphrase: false, unlocked: false } as const

/** The list entry of Berth's own key for the account. */
function listedOwn({ publicKey, fingerprint }: OwnKey): SshKey {
  return { name: berthKey, from: 'berth', type: 'ssh-ed25519', fingerprint, publicKey, ...open }
}

/** The list entries of the agent's keys: one for all of them, then one for each if there are several. */
function listedAgents(agents: readonly AgentKey[]): SshKey[] {
  const [first] = agents
  if (!first) return []
  const each = agents.length > 1 ? agents : []
  const named = (key: AgentKey, name: string): SshKey => ({ ...key, ...open, name, from: 'agent' })
  return [named(first, 'agent'), ...each.map(key => named(key, `agent/${key.fingerprint}`))]
}

/** The list entries of a folder's keys. User's keys named like Berth's own or the agent's are left out. */
async function listedIn(folder: string, from: 'berth' | 'user', passphrases: Passphrases): Promise<SshKey[]> {
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

/** Adds a private key's text to Berth's keys, see `Keys.import`. */
async function importKey(
  { files, passphrases }: { files: Files; passphrases: Passphrases },
  name: string,
  text: string,
  passphrase: string | undefined,
): Promise<string> {
  await checkFree(files, name)
  const read = await readPrivateKey(text, passphrase)
  if (read.state === 'locked') throw keyLocked(name)
  if (read.state === 'wrong_passphrase') throw wrongPassphrase(name)
  if (read.state !== 'open') throw notAKey(read.fault)
  const blob = read.key.getPublicSSH()
  const stored = await keepKey(files, name, read.text, `${typeOf(blob)} ${blob.toString('base64')} ${name}`)
  if (passphrase !== undefined) await passphrases.remember(fingerprintOf(blob), passphrase, false)
  return stored
}

/** Makes another key of Berth's, see `Keys.generate`. */
async function generateKey(files: Files, name: string): Promise<string> {
  await checkFree(files, name)
  const { privateKey, publicKey } = makeKeyPair(`berth-${name}`)
  return keepKey(files, name, privateKey, publicKey)
}

async function checkFree(files: Files, name: string): Promise<void> {
  if ((await namesIn(files.path('keys'))).includes(name)) throw nameTaken(name)
}

/** Writes both halves to Berth's folder, the private one first. */
async function keepKey(files: Files, name: string, privateKey: string, publicKey: string): Promise<string> {
  await files.write(`keys/${name}`, privateKey)
  await files.write(`keys/${name}.pub`, `${publicKey}\n`)
  return `berth/${name}`
}

export type Passphrases = ReturnType<typeof openPassphrases>

/** The passphrases of keys, by the key's fingerprint: in memory, and in the keychain if the user chose that. */
export function openPassphrases(keychain?: Pick<Keychain, 'get' | 'set' | 'delete'>) {
  const inMemory = new Map<string, string>()
  const entry = (fingerprint: string) => `ssh-key ${fingerprint}`
  return {
    async get(fingerprint: string): Promise<string | undefined> {
      return inMemory.get(fingerprint) ?? (await keychain?.get(entry(fingerprint)).catch(() => undefined))
    },
    /** With `keep`, rejects if the keychain fails; the passphrase is then stored in memory only. */
    async remember(fingerprint: string, passphrase: string, keep: boolean): Promise<void> {
      inMemory.set(fingerprint, passphrase)
      if (keep) await keychain?.set(entry(fingerprint), passphrase)
    },
    async forget(fingerprint: string): Promise<void> {
      inMemory.delete(fingerprint)
      await keychain?.delete(entry(fingerprint))
    },
  }
}
