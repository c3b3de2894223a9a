import * as v from 'valibot'
import { AccountId } from '../../ids.ts'
import { account, command, name } from '../command.ts'

const secret = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('give the API key'),
  v.maxLength(4096, 'an API key is shorter than that'),
  v.regex(/^[\x21-\x7e]+$/, 'an API key has no spaces and only plain characters'),
)

/** The accounts Berth knows. */
export const accountCommands = {
  /** Checks the key against the current user and keeps it in the keychain; answers the new account. */
  connectAccount: command({
    baseUrl: v.pipe(v.string(), v.trim(), v.nonEmpty('give the base URL of the service'), v.maxLength(2048)),
    key: secret,
    name: v.optional(name),
  }).answers<AccountId>(),
  replaceKey: command({ account: AccountId, key: secret }).answers<void>(),
  renameAccount: command({ account: AccountId, name }).answers<void>(),
  /** Forgets the account here, its key included. What it rents goes on. */
  removeAccount: command({ account: AccountId }).answers<void>(),
  showAccount: command({ account: AccountId }).answers<void>(),
  /** Looks at the account at once. */
  refresh: command({ account }).answers<void>(),
}
