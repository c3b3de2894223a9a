import type { accountCommands as declared } from '#contract/commands/account/accounts.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { Parts } from '../parts.ts'
import { asTyped } from './connecting.ts'

type AccountCommands = HandlersOf<typeof declared>

export function accountCommands({ accounts }: Parts): AccountCommands {
  return {
    connectAccount: ({ baseUrl, key, name }) => asTyped(accounts.connect(baseUrl, key, name)),
    replaceKey: ({ account, key }) => asTyped(accounts.replaceKey(account, key)),
    renameAccount: ({ account, name }) => accounts.rename(account, name),
    removeAccount: ({ account }) => accounts.remove(account),
    showAccount: ({ account }) => accounts.show(account),
    refresh: ({ account }) => accounts.session(account).poll(),
  }
}
