import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds in which Berth connects an account and first tries to get in. */
const patience = 60_000

/**
 * The public half of the key that Berth makes for its one account when it first tries to get in. The bench asks for it,
 * too, where there is no test around it.
 */
export async function ownPublicKey(berthHome: string): Promise<string> {
  const accounts = join(berthHome, 'accounts')
  for (const end = performance.now() + patience; performance.now() < end; await wait(50)) {
    for (const account of await readdir(accounts).catch(() => [])) {
      const text = await readFile(join(accounts, account, 'id_ed25519.pub'), 'utf8').catch(() => '')
      if (text !== '') return text.trim()
    }
  }
  throw new Error(`Berth made no key within ${patience} ms`)
}
