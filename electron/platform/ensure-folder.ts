import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

interface FolderToMake {
  mode?: number
  /** A folder that is there already: neither it nor one above it is made. */
  within?: string
}

/**
 * Makes a folder and those above it that are missing, as `mkdir` with `recursive`. That asks without end where the system
 * makes no folders, as below /proc, and holds the process, or one of the four threads for files.
 */
export async function ensureFolder(path: string, { mode = 0o777, within }: FolderToMake = {}): Promise<void> {
  const isThere = async (folder: string) =>
    (await stat(folder).catch(() => undefined))?.isDirectory() ?? false
  const make = () =>
    mkdir(path, mode).catch(async error => {
      if (!(await isThere(path))) throw error
    })
  if (path === within) return
  const above = dirname(path)
  await make().catch(async error => {
    if (!isMissing(error) || above === path) throw error
    // It may be there by now: another write makes it, too.
    if (!(await isThere(above))) await ensureFolder(above, { mode, ...(within !== undefined && { within }) })
    await make()
  })
}

/** The same, before anything else can happen here; another process may make it at the same time. */
export function ensureFolderSync(path: string, mode = 0o777): void {
  const isThere = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  const make = () => {
    try {
      mkdirSync(path, mode)
    } catch (error) {
      if (!isThere(path)) throw error
    }
  }
  const above = dirname(path)
  try {
    make()
  } catch (error) {
    if (!isMissing(error) || above === path) throw error
    if (!isThere(above)) ensureFolderSync(above, mode)
    make()
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
