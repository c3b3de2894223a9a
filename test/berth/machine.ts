import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chosenFolder, chosenItem, systemDownloads } from '#platform/chosen-files.ts'
import { openFiles } from '#platform/files.ts'
import type { FileDialogs } from '#platform/folders.ts'
import type { Files, Keychain, Log, Notice, Notifier, Platform, Programs } from '#platform/platform.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'

/** The machine of a test: real folders below `home`, no programs, and the given clock, keychain and more. */
export async function testMachine(
  home: string,
  given: Partial<Platform> & Pick<Platform, 'clock' | 'keychain'>,
): Promise<Platform> {
  return {
    downloads: systemDownloads(home),
    syncedFolders: systemSyncedFolders,
    files: openFiles(join(home, 'berth')),
    notifier: testNotifier(),
    opener: { openLink: async () => undefined, openPrivately: async () => undefined },
    programs: { find: async () => undefined, launch: async () => undefined },
    random: {
      hex: digits => randomBytes(digits).toString('hex').slice(0, digits),
      fraction: Math.random,
    },
    os: 'linux',
    home,
    ...given,
  }
}

/** A keychain that lasts as long as the test, restarts of Berth included. */
export function testKeychain(
  entries = new Map<string, string>(),
): Keychain & { entries: Map<string, string> } {
  return {
    entries,
    get: async name => entries.get(name),
    set: async (name, secret) => void entries.set(name, secret),
    delete: async name => void entries.delete(name),
  }
}

/** These programs, in `/bin/` unless absolute, and what was launched of them with its arguments. */
export function testPrograms(...names: string[]) {
  const launched: (readonly string[])[] = []
  const programs: Programs = {
    find: async name => (names.includes(name) ? (name.startsWith('/') ? name : `/bin/${name}`) : undefined),
    launch: async (program, args) => void launched.push([program, ...args]),
  }
  return { programs, launched }
}

/** A notifier that remembers what it was asked to show. */
export function testNotifier(): Notifier & { shown: Notice[]; click(id: string, action?: string): void } {
  let listener: (id: string, action: string | undefined) => void = () => undefined
  const shown: Notice[] = []
  return {
    available: true,
    shown,
    click: (id, action) => listener(id, action),
    show: async notice => void shown.push(notice),
    close: async () => undefined,
    onClick: callback => {
      listener = callback
    },
  }
}

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

/** File dialogs in which the user chooses nothing but what is given. */
export function answeredDialogs(answers: Partial<FileDialogs>): FileDialogs {
  return {
    chooseFiles: async () => [],
    chooseFolders: async () => [],
    chooseTarget: async () => undefined,
    itemAt: chosenItem,
    folderAt: chosenFolder,
    ...answers,
  }
}

/** A log that no test reads. */
export const silentLog: Log = {
  line: () => undefined,
  learn: () => undefined,
  mask: text => text,
  recent: () => [],
}

/** Files in memory that can refuse writes like a disk. */
export class MemoryFiles implements Files {
  readonly texts = new Map<string, string>()
  /** Files appended to as bytes. */
  readonly bytes = new Map<string, Buffer>()
  /** Every write that was begun, in order. */
  readonly writes: { name: string; text: string }[] = []
  /** The error code that writes fail with; undefined if they work. */
  refusing: string | undefined
  /** Writes wait for this, where set. */
  held: Promise<void> | undefined

  path(name: string): string {
    return `/memory/${name}`
  }

  async read(name: string): Promise<string | undefined> {
    return this.texts.get(name)
  }

  async write(name: string, text: string): Promise<void> {
    this.writes.push({ name, text })
    await this.held
    this.#refuse()
    this.texts.set(name, text)
  }

  async append(name: string, content: string | Uint8Array): Promise<void> {
    this.#refuse()
    if (typeof content === 'string') this.texts.set(name, (this.texts.get(name) ?? '') + content)
    else this.bytes.set(name, Buffer.concat([this.bytes.get(name) ?? Buffer.alloc(0), content]))
  }

  async readPart(name: string, from: number, most: number): Promise<Buffer> {
    return (this.bytes.get(name) ?? Buffer.alloc(0)).subarray(from, from + most)
  }

  async list(folder: string): Promise<{ name: string; size: number }[]> {
    return [...this.bytes]
      .filter(([name]) => name.startsWith(`${folder}/`))
      .map(([name, { length }]) => ({ name: name.slice(folder.length + 1), size: length }))
  }

  async move(name: string, to: string): Promise<void> {
    this.#refuse()
    const text = this.texts.get(name)
    if (text !== undefined) this.texts.set(to, text)
    this.texts.delete(name)
  }

  async delete(name: string): Promise<void> {
    this.texts.delete(name)
    this.bytes.delete(name)
  }

  #refuse(): void {
    if (this.refusing !== undefined)
      throw Object.assign(new Error(`${this.refusing}: no`), { code: this.refusing })
  }
}
