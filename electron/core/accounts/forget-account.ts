import type { AccountId } from '../../contract/ids.ts'
import type { Files } from '../../ports/files.ts'
import type { Session } from './session/session.ts'

/** Ends a removed account's session, and deletes its remote and keychain entries, which only it can find. */
export async function endForGood(session: Session): Promise<void> {
  await session.transfers.deleteKeys()
  await session.close()
  // Runs may be followed, and their output stored, until the session is closed.
  await session.automations.runs.deleteOutputs()
  await session.forgetSecrets()
}

/** Deletes all files in the account's folder. */
export async function deleteFolder(files: Pick<Files, 'list' | 'delete'>, id: AccountId): Promise<void> {
  const folder = `accounts/${id}`
  const left = await files.list(folder).catch(() => [])
  await Promise.all(left.map(({ name }) => files.delete(`${folder}/${name}`).catch(() => undefined)))
}
