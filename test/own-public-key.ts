import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'

/** Milliseconds in which Berth connects an account and first tries to get in. */
const patience = 60_000

/** The public half of the key that Berth makes for its one account when it first tries to get in. */
export async function ownPublicKey(berthHome: string): Promise<string> {
  const accounts = join(berthHome, 'accounts')
  const read = async () => {
    for (const account of await readdir(accounts).catch(() => [])) {
      const text = await readFile(join(accounts, account, 'id_ed25519.pub'), 'utf8').catch(() => '')
      if (text !== '') return text.trim()
    }
    return undefined
  }
  await expect.poll(read, { timeout: patience }).toBeDefined()
  return (await read()) ?? ''
}
