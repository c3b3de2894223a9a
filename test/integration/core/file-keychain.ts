import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Keychain } from '#machine/machine.ts'

/** A keychain in a file, written whole or not at all, since the process may be killed at any moment. */
export function fileKeychain(path: string): Keychain {
  const read = async () =>
    JSON.parse(await readFile(path, 'utf8').catch(() => '{}')) as Record<string, string>
  let last: Promise<unknown> = Promise.resolve()
  const change = (edit: (entries: Record<string, string>) => void) => {
    const mine = last.then(async () => {
      const entries = await read()
      edit(entries)
      await writeFile(`${path}.new`, JSON.stringify(entries))
      await rename(`${path}.new`, path)
    })
    last = mine
    return mine
  }
  return {
    persistent: true,
    get: async name => (await read())[name],
    set: (name, secret) =>
      change(entries => {
        entries[name] = secret
      }),
    delete: name =>
      change(entries => {
        delete entries[name]
      }),
  }
}
