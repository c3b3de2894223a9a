import { chmod, cp, lstat, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

/** What electron-builder asks for, whatever the kind of package. */
export interface Asked {
  name: string
  version: string
  /** Of the package, where the version stays the same. */
  iteration: string
  /** By Debian's name, such as `amd64`. */
  architecture: string
  maintainer: string
  vendor: string
  url: string
  /** An SPDX name. */
  license: string
  /** For a deb the first line is the summary. */
  description: string
  depends: readonly string[]
  /** Paths of scripts for bash. */
  afterInstall: string
  afterRemove: string
  /** The path of the package. */
  package: string
  /** A folder for what is made on the way, whose `root` is the system's root with the files to install. */
  folder: string
  files: readonly PayloadFile[]
}

export interface PayloadFile {
  /** From the root, without a slash at its start. */
  path: string
  /** Bytes; 0 for a link. */
  size: number
  isLink: boolean
}

/**
 * Copies what each `SOURCE=TARGET` names below a root. Modes are those of installed files, whatever the umask here is.
 * Gives all files, sorted.
 */
export async function stage(mappings: readonly string[], root: string): Promise<PayloadFile[]> {
  for (const mapping of mappings) {
    const [source, target] = mapping.split('=')
    if (!source || !target) throw new Error(`${mapping} names no source and target`)
    const place = join(root, target)
    await mkdir(dirname(place), { recursive: true })
    await cp(resolve(source), place, { recursive: true, verbatimSymlinks: true })
  }
  const files: PayloadFile[] = []
  await publish(root, root, files)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function publish(folder: string, root: string, files: PayloadFile[]): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await publish(path, root, files)
    else {
      const { size, mode } = await lstat(path)
      const isLink = entry.isSymbolicLink()
      if (!isLink) await chmod(path, mode & 0o111 ? 0o755 : 0o644)
      files.push({ path: relative(root, path), size: isLink ? 0 : size, isLink })
    }
  }
}
