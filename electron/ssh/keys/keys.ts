import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BaseAgent, ParsedKey } from 'ssh2'
import { berthKey, type SshKey } from '../../contract/instance/ssh-key.ts'
import type { Files } from '../../ports/files.ts'
import { type Agent, agentFingerprint, isAgents, openAgent } from './agent.ts'
import { findKeyFile, type KeyFile } from './key-folder.ts'
import { keyLocked, keyMissing, notRemovable, unusable, wrongPassphrase } from './key-problems.ts'
import { listedAgents, listedIn, listedOwn } from './listed.ts'
import { generateKey, importKey } from './new-keys.ts'
import { deleteOwn, loadOrMakeOwn, type OwnKey } from './own-key.ts'
import { openPassphrases, type Passphrases } from './passphrases.ts'
import { readPrivateKey } from './private-key.ts'

/** A key's public half, and the file that tells the system's ssh which key is meant. */
export interface LocatedKey {
  name: string
  publicKey: string
  fingerprint: string
  /** The private half's file; for a key of the agent's, its public half alone, which ssh takes as well. */
  path: string
}

/** How a key proves itself: its private half, which is in memory and goes nowhere else, or the agent that signs. */
export type Proof = { type: 'publickey'; key: ParsedKey } | { type: 'agent'; agent: BaseAgent }

/** A key with which to get in. */
export interface LoadedKey extends LocatedKey {
  proof: Proof
}

/**
 * The keys that can get into an account's instances. They go by name: `berth` is the one that Berth makes for the
 * account; `berth/NAME` another in Berth's folder; `agent` the SSH agent's, all of them, and `agent/SHA256:…` one of
 * them; anything else is a file in `~/.ssh`. All but the first are the same for every account.
 */
export interface Keys {
  /** Berth's for the account, made on first use, its others, the agent's, then those of `~/.ssh`, by name. */
  list(): Promise<SshKey[]>
  /** Its public half, to attach to an instance; a passphrase is no matter. Throws `key_missing`. */
  locate(name: string): Promise<LocatedKey>
  /** Throws `key_missing`, `key_locked` (its passphrase is wanted) or `key_unusable`. */
  load(name: string): Promise<LoadedKey>
  /** Opens a key with its passphrase for this session, and by choice for later ones. Throws `wrong_passphrase` too. */
  unlock(name: string, passphrase: string, keep: boolean): Promise<void>
  /** Forgets its passphrase. */
  lock(name: string): Promise<void>
  /**
   * Takes a private key's text, as it is, among Berth's, readable by the user alone; gives its name. Throws
   * `not_a_key`, `key_exists`, `key_locked` where its passphrase is needed to read it, and `wrong_passphrase`.
   */
  import(name: string, text: string, passphrase?: string): Promise<string>
  /** Makes another key among Berth's, and gives its name. Throws `key_exists`. */
  generate(name: string): Promise<string>
  /** Deletes one of Berth's others, and forgets its passphrase. Throws `key_not_removable` or `key_missing`. */
  remove(name: string): Promise<void>
  /** Deletes the account's own key: the account leaves Berth. */
  deleteOwn(): Promise<void>
}

export interface KeyNeeds {
  files: Files
  /** Without one there are only the keys that all accounts share. */
  account: string | undefined
  /** The user's home folder; of its `.ssh` nothing is written. */
  home: string
  passphrases?: Passphrases
  agent?: Agent
}

export function openKeys({
  files,
  account,
  home,
  passphrases = openPassphrases(),
  agent = openAgent(undefined),
}: KeyNeeds): Keys {
  const usersFolder = join(home, '.ssh')
  const ownFolder = files.path('keys')
  let own: Promise<OwnKey> | undefined

  /** One making at a time, so that two first uses end with the same key. */
  async function ownKey(): Promise<OwnKey> {
    if (account === undefined) throw keyMissing(berthKey)
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
    if (found === undefined) throw keyMissing(name)
    return found
  }

  /** The agent's key that is meant, and the file of its public half. */
  async function agentKey(name: string): Promise<LocatedKey> {
    const wanted = agentFingerprint(name)
    const key = (await agent.keys()).find(({ fingerprint }) => fingerprint === (wanted ?? fingerprint))
    if (key === undefined) throw keyMissing(name)
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
    if (isAgents(name))
      return { ...located, proof: { type: 'agent', agent: await agent.signer(agentFingerprint(name)) } }
    if (name === berthKey) return { ...located, proof: { type: 'publickey', key: (await ownKey()).key } }
    const text = await readFile(located.path, 'utf8').catch(() => '')
    let read = await readPrivateKey(text)
    if (read.state === 'locked') {
      const passphrase = await passphrases.get(located.fingerprint)
      if (passphrase !== undefined) read = await readPrivateKey(text, passphrase)
    }
    // A passphrase that was kept and has been changed meanwhile is one that is not known.
    if (read.state === 'locked' || read.state === 'wrong_passphrase') throw keyLocked(name)
    if (read.state !== 'open') throw unusable(name)
    return { ...located, proof: { type: 'publickey', key: read.key } }
  }

  return {
    locate,
    load,
    async list() {
      const [mine, others, agents, users] = await Promise.all([
        account === undefined ? undefined : ownKey(),
        listedIn(ownFolder, 'berth', passphrases),
        agent.keys(),
        listedIn(usersFolder, 'user', passphrases),
      ])
      return [...(mine ? [listedOwn(mine)] : []), ...others, ...listedAgents(agents), ...users]
    },
    async unlock(name, passphrase, keep) {
      const { path, fingerprint } = await fileOf(name)
      const { state } = await readPrivateKey(await readFile(path, 'utf8').catch(() => ''), passphrase)
      if (state === 'unusable') throw unusable(name)
      if (state !== 'open') throw wrongPassphrase(name)
      await passphrases.remember(fingerprint, passphrase, keep)
    },
    async lock(name) {
      await passphrases.forget((await fileOf(name)).fingerprint)
    },
    import: (name, text, passphrase) => importKey({ files, passphrases }, name, text, passphrase),
    generate: name => generateKey(files, name),
    async remove(name) {
      if (!name.startsWith('berth/')) throw notRemovable(name)
      const { fingerprint } = await fileOf(name)
      const file = `keys/${name.slice('berth/'.length)}`
      await files.delete(file)
      await files.delete(`${file}.pub`)
      // The key has gone, whether the keychain answers or not.
      await passphrases.forget(fingerprint).catch(() => undefined)
    },
    async deleteOwn() {
      if (account !== undefined) await deleteOwn(files, account)
    },
  }
}
