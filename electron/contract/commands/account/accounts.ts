import * as v from 'valibot'
import { AccountId } from '#contract/ids.ts'
import { account, command, name } from '../command.ts'

const secret = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('give the API key'),
  v.maxLength(4096, 'an API key is shorter than that'),
  v.regex(/^[\x21-\x7e]+$/, 'an API key has no spaces and only plain characters'),
)

/** The user's accounts. */
export const accountCommands = {
  /** Checks the key by reading the current user and stores it in the keychain; answers the new account's id. */
  connectAccount: command({
    baseUrl: v.pipe(v.string(), v.trim(), v.nonEmpty('give the base URL of the service'), v.maxLength(2048)),
    key: secret,
    name: v.optional(name),
  }).answers<AccountId>(),
  replaceKey: command({ account: AccountId, key: secret }).answers<void>(),
  renameAccount: command({ account: AccountId, name }).answers<void>(),
  /** Removes the account from Berth, its key included. Its instances continue. */
  removeAccount: command({ account: AccountId }).answers<void>(),
  showAccount: command({ account: AccountId }).answers<void>(),
  /** Polls the account now. */
  refresh: command({ account }).answers<void>(),
}
