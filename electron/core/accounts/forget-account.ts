import type { AccountId } from '../../contract/ids.ts'
import type { Files } from '../../ports/files.ts'
import type { Session } from './session.ts'

/** What is kept of an account in its folder. */
const documents = [
  'rentals',
  'secrets',
  'failovers',
  'failed-hosts',
  'recoveries',
  'watches',
  'watch-prices',
  'transfers',
  'guards',
  'told',
  'last-seen',
  'departed',
  'service',
  'money-now',
  'money-past',
  'charges',
  'watchdogs',
  'runs',
]

/** Ends the session of an account that leaves Berth, with all that it put elsewhere and that only it can find again. */
export async function endForGood(session: Session): Promise<void> {
  await session.transfers.deleteKeys()
  await session.close()
  // Until then runs may still be followed, and their output kept.
  await session.automations.runs.deleteOutputs()
  await session.forgetSecrets()
}

/** Deletes what Berth itself kept for the account. What programs get in with goes with the account's access. */
export async function forgetAccount(files: Pick<Files, 'delete'>, id: AccountId): Promise<void> {
  const names = documents.map(name => `accounts/${id}/${name}.json`)
  await Promise.all(names.map(name => files.delete(name).catch(() => undefined)))
}
