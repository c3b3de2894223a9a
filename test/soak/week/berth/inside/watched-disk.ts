import type { Files } from '../../../../../electron/ports/files.ts'
import type { Keychain } from '../../../../../electron/ports/keychain.ts'
import type { Deaths } from './deaths.ts'
import type { Stillness } from './stillness.ts'

/** The same files, tracked; this process may die before, during and after a write. */
export function watchedFiles(files: Files, stillness: Stillness, deaths: Deaths): Files {
  async function write(name: string, text: string): Promise<void> {
    deaths.comes('write')
    const writing = files.write(name, text)
    setImmediate(() => deaths.comes('writing'))
    await writing
    deaths.comes('written')
  }
  return {
    path: name => files.path(name),
    read: name => stillness.work(`reading ${name}`, files.read(name)),
    write: (name, text) => stillness.work(`writing ${name}`, write(name, text)),
    append: (name, content) => stillness.work(`adding to ${name}`, files.append(name, content)),
    readPart: (name, from, most) => stillness.work(`reading ${name}`, files.readPart(name, from, most)),
    list: folder => stillness.work(`listing ${folder}`, files.list(folder)),
    delete: name => stillness.work(`deleting ${name}`, files.delete(name)),
  }
}

/** The same keychain, tracked. */
export function watchedKeychain(keychain: Keychain, stillness: Stillness): Keychain {
  return {
    persistent: keychain.persistent,
    get: name => stillness.work('reading a secret', keychain.get(name)),
    set: (name, secret) => stillness.work('keeping a secret', keychain.set(name, secret)),
    delete: name => stillness.work('deleting a secret', keychain.delete(name)),
  }
}
