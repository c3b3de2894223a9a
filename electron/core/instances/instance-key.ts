import type { AccountId } from '#contract/ids.ts'

/** The keychain entry of an instance's own restricted key (section 2.1). */
export function instanceKeyEntry(account: AccountId, instance: number): string {
  return `${account} instance ${instance}`
}
