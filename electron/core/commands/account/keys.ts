import type { keyCommands as declared } from '#contract/commands/account/keys.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { tellingUnread } from '#core/state/unread.ts'
import type { KeyPermissions } from '#service/api-keys.ts'
import type { Parts } from '../parts.ts'
import { keyViews, newKey } from './key-view.ts'

type KeyCommands = HandlersOf<typeof declared>

export function keyHandlers({ accounts, activity, store }: Parts): KeyCommands {
  const note = (account: string, text: string) => activity.add({ account, kind: 'user', text })
  return {
    async listApiKeys({ account }) {
      const { id, client } = accounts.session(account)
      const [keys, own] = await Promise.all([
        tellingUnread(store, id, 'apiKeys', options =>
          needingPermission('user_read', client.apiKeys.list(options)),
        ),
        accounts.apiKey(id),
      ])
      return keyViews(keys, own)
    },
    async createApiKey({ account, request: { name, permissions, keyParams } }) {
      const { id, client } = accounts.session(account)
      const made = await needingPermission(
        'user_write',
        client.apiKeys.create({
          name,
          permissions: permissions ? ({ api: permissions } satisfies KeyPermissions) : undefined,
          key_params: keyParams,
        }),
      )
      note(id, `Made the API key “${name}” #${made.id}`)
      return newKey(made)
    },
    async deleteApiKey({ account, id: key }) {
      const { id, client } = accounts.session(account)
      await needingPermission('user_write', client.apiKeys.remove(key))
      note(id, `Deleted API key #${key}`)
    },
    async listAccountSshKeys({ account }) {
      const { id, client } = accounts.session(account)
      const keys = await tellingUnread(store, id, 'sshKeys', options =>
        needingPermission('user_read', client.account.listSshKeys(options)),
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
      const { id, client } = accounts.session(account)
      await needingPermission('user_write', client.account.addSshKey(publicKey))
      note(id, 'Added an SSH key to the account')
    },
  }
}
