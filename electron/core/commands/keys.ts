import type { keyCommands, sshKeyCommands } from '#contract/commands/account.ts'
import type { ApiKey, CreatedApiKey as CreatedKey, KeyPermissions } from '#service/api-keys.ts'
import type { ServiceClient } from '#service/client.ts'
import type { ApiKeyView, NewApiKey } from '#shared/account/api-key.ts'
import { demosOwnKey } from '#shared/deletions.ts'
import { berthKey } from '#shared/instance/ssh-key.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { tellingUnread } from '../storage/store.ts'
import { askOf, type Services } from './services.ts'

export function keyHandlers(parts: Services): HandlersOf<typeof keyCommands> {
  const { accounts, store } = parts
  const ask = askOf(parts)
  return {
    async listApiKeys({ account }) {
      const { id } = accounts.session(account)
      const [keys, own] = await Promise.all([
        tellingUnread(store, id, 'apiKeys', options =>
          ask(id, 'user_read', ({ apiKeys }) => apiKeys.list(options)),
        ),
        accounts.apiKey(id),
      ])
      return keyViews(keys, own)
    },
    async createApiKey({ account, request: { name, permissions, keyParams } }) {
      const body = {
        name,
        permissions: permissions ? ({ api: permissions } satisfies KeyPermissions) : undefined,
        key_params: keyParams,
      }
      const made = await ask(
        account,
        'user_write',
        ({ apiKeys }) => apiKeys.create(body),
        ({ id }) => `Created the API key “${name}” #${id}`,
      )
      return newKey(made)
    },
    /** Throws `demo_stays` for the demo's own. */
    async deleteApiKey({ account, id }) {
      const session = accounts.session(account)
      if (session.id === 'demo') {
        const [keys, own] = await Promise.all([
          ask(session.id, 'user_read', ({ apiKeys }) => apiKeys.list()),
          accounts.apiKey(session.id),
        ])
        if (keyViews(keys, own).some(key => key.id === id && key.inUse))
          throw new BerthError({ code: 'demo_stays', message: demosOwnKey })
      }
      return session.deletions.request({ kind: 'apiKey', id })
    },
    async listAccountSshKeys({ account }) {
      const { id } = accounts.session(account)
      const keys = await tellingUnread(store, id, 'sshKeys', options =>
        ask(id, 'user_read', client => client.account.listSshKeys(options)),
      )
      return keys.map(({ id, name, ssh_key: publicKey }) => ({ id, publicKey, name }))
    },
    async addAccountSshKey({ account, publicKey }) {
      if (!/^(ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+( .*)?$/.test(publicKey))
        throw new BerthError({
          code: 'not_a_public_key',
          message: 'That is not one line of an OpenSSH public key.',
          advice: 'It begins with its type, such as ssh-ed25519. A private key never belongs here.',
          field: 'publicKey',
        })
      const add = ({ account: service }: ServiceClient) => service.addSshKey(publicKey)
      await ask(account, 'user_write', add, 'Added an SSH key to the account')
    },
    deleteAccountSshKey: ({ account, id }) =>
      ask(
        account,
        'user_write',
        client => client.account.removeSshKey(id),
        `Deleted the account’s SSH key #${id}`,
      ),
  }
}

/** Characters of a secret that are shown. */
const shown = 4

/** A listed key, its secret cut to the last characters even where the service shows more. */
function keyView(key: ApiKey): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    masked: key.key ? `…${key.key.slice(-shown)}` : undefined,
    userId: key.user_id,
    rights: key.rights,
    teamId: key.team_id,
    teamName: key.team_name,
    permissions: key.permissions && categories(key.permissions),
  }
}

/** All listed keys; Berth's own is marked where its last characters are unique. */
export function keyViews(keys: readonly ApiKey[], own: string | undefined): ApiKeyView[] {
  const views = keys.map(keyView)
  if (own === undefined) return views
  const alike = keys.filter(({ key }) => key !== undefined && endsAlike(key, own))
  const only = alike.length === 1 ? alike[0]?.id : undefined
  return views.map(view => (view.id === only ? { ...view, inUse: true } : view))
}

/** Whether a listed key, masked or whole, may be Berth's own. */
function endsAlike(listed: string, own: string): boolean {
  return listed === own || (listed.length >= shown && listed.slice(-shown) === own.slice(-shown))
}

/** A new key, with its secret. */
export function newKey({ id, key, permissions }: CreatedKey): NewApiKey {
  return { id, secret: key, permissions: permissions ? categories(permissions) : false }
}

/** Section 5.3 nests them in `api`; some deployments may leave that out. */
function categories(permissions: Record<string, unknown>): Record<string, unknown> {
  const api = permissions['api']
  return typeof api === 'object' && api !== null && !Array.isArray(api)
    ? (api as Record<string, unknown>)
    : permissions
}

/** Bytes to read; a private key has a few thousand. */
const longest = 65_536

export function sshKeyHandlers({
  access,
  accounts,
  activity,
  platform,
  settings,
  store,
}: Services): HandlersOf<typeof sshKeyCommands> {
  const keys = () => access.keys(store.get().shown)
  /** The content of the last chosen file, until it is imported or replaced. */
  let chosen: { file: number; text: string } | undefined
  let chosenSoFar = 0

  return {
    sshKeys: () => keys().list(),
    unlockKey: ({ key, passphrase, keep }) => keys().unlock(key, passphrase, keep),
    lockKey: ({ key }) => keys().lock(key),
    async importKey({ name, from, passphrase }) {
      const text = 'text' in from ? from.text : chosen?.file === from.file ? chosen.text : undefined
      if (text === undefined) throw new BerthError(chooseAgain)
      const imported = await keys().import(name, text, passphrase)
      chosen = undefined
      activity.add({ kind: 'user', text: `Imported the SSH key “${name}”` })
      return imported
    },
    async chooseKeyFile() {
      const [item] = (await platform.fileDialogs?.chooseFiles()) ?? []
      const [source] = (await item?.list())?.files ?? []
      if (item === undefined || source === undefined) return {}
      const bytes = Buffer.alloc(Math.min(source.size, longest))
      const opened = await source.open()
      try {
        const length = await opened.read(0, bytes)
        chosenSoFar += 1
        chosen = { file: chosenSoFar, text: bytes.subarray(0, length).toString('utf8') }
      } finally {
        await opened.close()
      }
      return { file: chosenSoFar, name: item.name }
    },
    async generateKey({ name }) {
      const made = await keys().generate(name)
      activity.add({ kind: 'user', text: `Created the SSH key “${name}”` })
      return made
    },
    async removeKey({ key }) {
      await keys().remove(key)
      if (settings.get().sshKey === key) {
        const after = await settings.change({ sshKey: berthKey })
        store.change(draft => {
          draft.settings = after
        })
      }
      activity.add({ kind: 'user', text: `Removed the SSH key “${key.replace(/^berth\//, '')}”` })
    },
    attachedKeys: ({ account }) => access.attachedKeys(accounts.session(account).id),
  }
}

const chooseAgain: Problem = {
  code: 'no_file',
  message: 'The file that you chose is gone.',
  advice: 'Choose it again.',
  field: 'file',
}
