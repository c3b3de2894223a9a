import type { Handlers } from '../../app/page/dispatcher.ts'
import type { Parts } from '../parts.ts'
import { asTyped } from './connecting.ts'

type AccountCommands = Pick<
  Handlers,
  'connectAccount' | 'replaceKey' | 'renameAccount' | 'removeAccount' | 'showAccount' | 'refresh'
>

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
