import type { AccountId } from '../../contract/ids.ts'
import type { Files } from '../../ports/files.ts'
import type { Session } from './session/session.ts'

/** Ends the session of an account that leaves Berth, with all that it put elsewhere and that only it can find again. */
export async function endForGood(session: Session): Promise<void> {
  await session.transfers.deleteKeys()
  await session.close()
  // Until then runs may still be followed, and their output kept.
  await session.automations.runs.deleteOutputs()
  await session.forgetSecrets()
}

/** Deletes all files of the account's folder. */
export async function deleteFolder(files: Pick<Files, 'list' | 'delete'>, id: AccountId): Promise<void> {
  const folder = `accounts/${id}`
  const left = await files.list(folder).catch(() => [])
  await Promise.all(left.map(({ name }) => files.delete(`${folder}/${name}`).catch(() => undefined)))
}
