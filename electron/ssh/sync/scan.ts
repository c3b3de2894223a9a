import type { FolderScan, Skipped } from '../../contract/instance/sync.ts'
import { countTree } from '../../contract/instance/tree-bounds.ts'
import { BerthError } from '../../contract/problem.ts'
import { inSlices } from '../../ports/in-slices.ts'
import type { FileFacts, LocalEntry, SyncedFolder } from '../../ports/synced-folders.ts'
import { type IgnoreRule, isIgnored, parseIgnoreFile, type RulesOfFolder } from './ignore-rules.ts'
import { isSecretFolder, looksSecret } from './secrets.ts'

export interface LocalFile extends FileFacts {
  path: string
}

/** A local folder's contents, in the order in which they were found. */
export interface LocalTree {
  files: LocalFile[]
  folders: string[]
  links: { path: string; target: string }[]
  secrets: LocalFile[]
  skipped: Skipped[]
  ignored: number
}

/** The staging folder on the instance, which collects sent files until all have arrived. */
export const stagingName = '.berth-sync'
/** The last entry of an archive, which shows that the archive arrived whole. */
export const wholeName = '.berth-whole'

/** In reading order: rules of the later file override those of the first. */
const ignoreFiles = ['.gitignore', '.berthignore']
/** The most bytes of an ignore file, and the most rules of one folder. */
const longestIgnoreFile = 128 * 1024
const mostRules = 2000

/** Reads a local folder. Throws `no_such_folder`, `too_many_files`, `too_deep` or `ignore_file`. */
export async function readTree(
  folder: SyncedFolder,
  { ignore = [], signal }: { ignore?: readonly string[]; signal?: AbortSignal } = {},
): Promise<LocalTree> {
  const tree: LocalTree = { files: [], folders: [], links: [], secrets: [], skipped: [], ignored: 0 }
  const count = countTree('sent')
  const given = parseIgnoreFile(ignore.join('\n'))
  const turn = inSlices()
  await visit([], [{ depth: 0, rules: given }])
  return tree

  async function visit(names: readonly string[], above: readonly RulesOfFolder[]): Promise<void> {
    signal?.throwIfAborted()
    const depth = names.length
    const at = names.join('/')
    const start = depth === 0 ? '' : `${at}/`
    const entries = await folder.list(at)
    const rules = await rulesIn(start, entries)
    const inForce = rules.length === 0 ? above : [{ depth, rules }, ...above]
    const secret = names.some(isSecretFolder)
    for (const entry of entries) {
      const { name, kind } = entry
      if (isOurs(name, depth)) continue
      // Thousands of nasty rules take a tenth of a second for one name.
      await turn()
      signal?.throwIfAborted()
      if (isIgnored(inForce, [...names, name], kind === 'folder')) {
        tree.ignored++
        continue
      }
      const path = start + name
      count(path, depth)
      if (kind === 'folder') {
        tree.folders.push(path)
        await visit([...names, name], inForce)
      } else add(entry, path, secret || looksSecret(name))
    }
  }

  function add(
    { kind, size, modified, executable, target }: LocalEntry,
    path: string,
    secret: boolean,
  ): void {
    if (kind === 'file') (secret ? tree.secrets : tree.files).push({ path, size, modified, executable })
    else if (kind === 'link' && target !== undefined) tree.links.push({ path, target })
    else tree.skipped.push({ path, why: kind === 'link' ? 'link_out' : 'special' })
  }

  async function rulesIn(start: string, entries: readonly LocalEntry[]): Promise<IgnoreRule[]> {
    const rules: IgnoreRule[] = []
    for (const name of ignoreFiles) {
      if (!entries.some(entry => entry.name === name && entry.kind === 'file')) continue
      const path = start + name
      const content = await folder.read(path, longestIgnoreFile)
      if (content === undefined) throw badIgnoreFile(path)
      rules.push(...parseIgnoreFile(content.bytes.toString('utf8')))
      if (rules.length > mostRules) throw badIgnoreFile(path)
    }
    return rules
  }
}

/** Files that belong to git or to Berth itself. */
function isOurs(name: string, depth: number): boolean {
  return (
    name === '.git' ||
    name.endsWith('.berth-part') ||
    (depth === 0 && (name === stagingName || name === wholeName))
  )
}

export function scanOf({ files, links, secrets, skipped, ignored }: LocalTree): FolderScan {
  return {
    files: files.length + links.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    secrets: secrets.map(({ path }) => path),
    skipped,
    ignored,
  }
}

function badIgnoreFile(path: string): BerthError {
  return new BerthError({
    code: 'ignore_file',
    message: `${path} cannot be read, or has more than ${mostRules} lines.`,
    advice: 'What it leaves out is not known, so nothing was sent. Shorten it, or make it readable.',
  })
}
