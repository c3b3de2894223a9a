import { ApiKeyRequest, type ApiKeyView, type NewApiKey } from '#contract/account/api-key.ts'
import { account, command, given, ServiceId } from '../command.ts'

/** The account's API keys, and its own SSH keys. */
export const keyCommands = {
  listApiKeys: command({ account }).answers<readonly ApiKeyView[]>(),
  /** Only this answer has the secret. */
  createApiKey: command({ account, request: ApiKeyRequest }).answers<NewApiKey>(),
  /** Throws `not_supported` where the service cannot. */
  deleteApiKey: command({ account, id: ServiceId }).answers<void>(),
  /** Keys that the service installs on every new instance. Throws `not_supported` where it has none. */
  listAccountSshKeys: command({ account }).answers<
    readonly { id?: number; publicKey: string; name?: string }[]
  >(),
  addAccountSshKey: command({ account, publicKey: given('a public key', 16_384) }).answers<void>(),
}
