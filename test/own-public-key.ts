import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds for Berth to connect an account and try to enter an instance. */
const patience = 60_000

/**
 * The public key that Berth generates for its only account when it first enters an instance. The bench calls this
 * outside of tests, too.
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
