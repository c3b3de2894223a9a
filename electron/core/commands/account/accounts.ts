import type { accountCommands as declared } from '#contract/commands/account/accounts.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { Parts } from '../parts.ts'
import { serviceAddressAsTyped } from './connecting.ts'

type AccountCommands = HandlersOf<typeof declared>

export function accountHandlers({ accounts }: Parts): AccountCommands {
  return {
    connectAccount: ({ baseUrl, key, name }) => serviceAddressAsTyped(accounts.connect(baseUrl, key, name)),
    replaceKey: ({ account, key }) => serviceAddressAsTyped(accounts.replaceKey(account, key)),
    renameAccount: ({ account, name }) => accounts.rename(account, name),
    removeAccount: ({ account }) => accounts.remove(account),
    showAccount: ({ account }) => accounts.show(account),
    refresh: ({ account }) => accounts.session(account).poll(),
  }
}
