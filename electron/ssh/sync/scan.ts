import { earlierName, type FileFacts, type LocalEntry, type SyncedFolder } from '#platform/folders.ts'
import { inSlices } from '#platform/tasks.ts'
import { countTree } from '#shared/instance/files.ts'
import { likelySecret, longestLookedAt } from '#shared/instance/secrets.ts'
import type { FolderScan, Skipped } from '#shared/instance/sync.ts'
import { BerthError } from '#shared/problem.ts'
import { boundedTries, type RuleFiles, verdictOf, withoutRulesFor, withRules } from './ignore-rules.ts'

export interface LocalFile extends FileFacts {
  path: string
}

/** A local folder's contents, in the order in which they were found. */
export interface LocalTree {
  files: LocalFile[]
  folders: string[]
  links: { path: string; target: string }[]
  /** `holds` says what its text shows; without it the name alone looks like a secret. */
  secrets: (LocalFile & { holds?: string })[]
  skipped: Skipped[]
  /** Paths excluded by ignore rules; a folder's path ends with `/` and stands for all of it. */
  ignored: string[]
  /** Downloaded results, which stay here. */
  results: string[]
  linkedRules: string[]
}

/** The staging folder on the instance, which collects sent files until all have arrived. */
export const stagingName = '.berth-sync'
/** The last entry of an archive, which shows that the archive arrived whole. */
export const wholeName = '.berth-whole'

/** The most bytes of an ignore file, and the most lines of one folder's. */
const longestIgnoreFile = 128 * 1024
const mostRules = 2000
/** Names that are tried at a time. */
const together = 25

/** The rules in force in a folder. */
interface InForce {
  /** Paths that git ignores, relative to the folder `from`; absent where the texts of `.gitignore` decide. */
  ignored?: { entries: ReadonlySet<string>; from: string }
  git: RuleFiles
  /** Those of `.berthignore`, which override git's. */
  berth: RuleFiles
  ignoreCase: boolean
}

const noRules: InForce = { git: [], berth: [], ignoreCase: false }

export type ReadFolder = Pick<SyncedFolder, 'list' | 'read' | 'rules'>

interface Reading {
  signal?: AbortSignal
  /** Whether to look for secrets in the texts of files. */
  secrets?: boolean
  /** Whether ignore rules apply. */
  ruled?: boolean
  /** Whether a file is a downloaded result, which is left out unless `.berthignore` includes it by a `!` rule. */
  isResult?: (file: LocalFile) => boolean
}

/** Reads a local folder. Throws `no_such_folder`, `too_many_files`, `too_deep` or `ignore_file`. */
export async function readTree(
  folder: ReadFolder,
  { signal, secrets = true, ruled = true, isResult = () => false }: Reading = {},
): Promise<LocalTree> {
  const tree: LocalTree = {
    files: [],
    folders: [],
    links: [],
    secrets: [],
    skipped: [],
    ignored: [],
    results: [],
    linkedRules: [],
  }
  const count = countTree('sent')
  const turn = inSlices()
  const tries = boundedTries()
  await visit([], await rulesFrom('', []), await folder.list(''))
  return tree

  async function visit(
    names: readonly string[],
    above: InForce,
    entries: readonly LocalEntry[],
    isIncluded = false,
  ): Promise<void> {
    const depth = names.length
    const start = depth === 0 ? '' : `${names.join('/')}/`
    const rules = await rulesIn(start, entries, above)
    const others = entries.filter(({ name }) => !isOurs(name, depth))
    for (let at = 0; at < others.length; at += together) {
      await turn()
      signal?.throwIfAborted()
      const some = others.slice(at, at + together)
      const verdicts = tryAll(some, start, rules)
      for (const [index, entry] of some.entries()) {
        const verdict = verdicts[index]
        if (verdict === 'ignored') {
          tree.ignored.push(start + entry.name + (entry.kind === 'folder' ? '/' : ''))
          continue
        }
        const path = start + entry.name
        count(path, depth)
        const within = isIncluded || verdict !== undefined
        if (entry.kind === 'folder') await enter(path, [...names, entry.name], rules, { verdict, within })
        else if (!within && entry.kind === 'file' && isResult({ ...entry, path })) tree.results.push(path)
        else await add(entry, [...names, entry.name])
      }
    }
  }

  /** A repository in the folder has its own rules, and so has a folder that only git ignores. */
  async function enter(
    path: string,
    names: readonly string[],
    rules: InForce,
    { verdict, within }: { verdict: Verdict; within: boolean },
  ): Promise<void> {
    const entries = await folder.list(path).catch(() => undefined)
    if (entries === undefined) {
      tree.skipped.push({ path, why: 'unreadable' })
      return
    }
    const before = contentsOf(tree)
    const at = tree.folders.push(path) - 1
    const isAnew = verdict === 'included' || entries.some(({ name }) => name === '.git')
    await visit(names, isAnew ? await rulesFrom(path, rules.berth) : rules, entries, within)
    // A command may expect to make the folder of its results.
    const { results, others } = contentsOf(tree)
    if (results > before.results && others === before.others + 1) tree.folders.splice(at, 1)
  }

  function tryAll(entries: readonly LocalEntry[], start: string, rules: InForce): Verdict[] {
    try {
      return tries(() =>
        entries.map(({ name, kind }) => verdictOn(rules, start + name + (kind === 'folder' ? '/' : ''))),
      )
    } catch {
      throw badIgnoreFile(`${start}.berthignore or ${start}.gitignore`)
    }
  }

  async function rulesFrom(at: string, berth: RuleFiles): Promise<InForce> {
    if (!ruled) return noRules
    const { ignored, outside, linked, ignoreCase } = await folder.rules(at, signal)
    tree.linkedRules.push(...linked)
    const from = at === '' ? '' : `${at}/`
    if (ignored) return { ignored: { entries: ignored, from }, git: [], berth, ignoreCase }
    const added = (textOf: (file: (typeof outside)[number]) => string) =>
      outside.reduce<RuleFiles>(
        (files, file) => withRules(files, textOf(file), { from, within: file.within, ignoreCase }),
        [],
      )
    try {
      return tries(() => {
        const all = added(({ text }) => text)
        const isOut = outside.some(({ within }) => within !== '') && verdictOf(all, from) === true
        // You chose the folder, so the rules against the whole of it do not count.
        const git = isOut ? added(file => withoutRulesFor(`${file.within}/`, file.text, ignoreCase)) : all
        return { git, berth, ignoreCase }
      })
    } catch {
      throw badIgnoreFile('.gitignore')
    }
  }

  /** Adds the rules of a folder's own ignore files. */
  async function rulesIn(start: string, entries: readonly LocalEntry[], above: InForce): Promise<InForce> {
    if (!ruled) return above
    const { ignored, git, berth, ignoreCase } = above
    const add = async (name: string, files: RuleFiles, isRead: boolean) => {
      const kind = entries.find(entry => entry.name === name)?.kind
      if (kind === 'link') tree.linkedRules.push(start + name)
      if (kind !== 'file' || !isRead) return files
      const text = (await folder.read(start + name, longestIgnoreFile))?.bytes.toString('utf8')
      if (text === undefined || text.split('\n').length > mostRules) throw badIgnoreFile(start + name)
      return withRules(files, text, { from: start, ignoreCase })
    }
    return {
      ignored,
      git: await add('.gitignore', git, ignored === undefined),
      berth: await add('.berthignore', berth, true),
      ignoreCase,
    }
  }

  async function add(entry: LocalEntry, names: readonly string[]): Promise<void> {
    const { kind, size, modified, executable, target } = entry
    const path = names.join('/')
    const file = { path, size, modified, executable }
    if (kind === 'file') {
      const secret = secrets ? await secretOf(folder, file) : undefined
      if (secret) tree.secrets.push({ ...file, ...secret })
      else tree.files.push(file)
    } else if (kind === 'link' && target !== undefined) tree.links.push({ path, target })
    else tree.skipped.push({ path, why: reasons[kind] })
  }
}

/** What makes a file look like a secret. */
function secretOf(folder: ReadFolder, { path, size }: LocalFile): ReturnType<typeof likelySecret> {
  const text = async () => (await folder.read(path, longestLookedAt))?.bytes.toString('latin1')
  return likelySecret(path.split('/'), size, text)
}

/** Those of a folder's files that look like secrets. */
export async function secretsAmong(
  folder: ReadFolder,
  files: readonly LocalFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<LocalFile>> {
  const secrets = new Set<LocalFile>()
  const turn = inSlices()
  for (const file of files) {
    await turn()
    signal.throwIfAborted()
    if (await secretOf(folder, file)) secrets.add(file)
  }
  return secrets
}

const reasons = {
  link: 'link_out',
  other: 'special',
  folder: 'special',
  unreadable: 'unreadable',
  misnamed: 'not_unicode',
  vanished: 'changed',
} as const

function contentsOf({ files, folders, links, secrets, results }: LocalTree) {
  return {
    results: results.length,
    others: files.length + folders.length + links.length + secrets.length,
  }
}

/** `included`: git ignores it, and `.berthignore` includes it again. `wanted`: `.berthignore` includes it anyway. */
type Verdict = 'ignored' | 'included' | 'wanted' | undefined

function verdictOn({ ignored, git, berth }: InForce, path: string): Verdict {
  const own = verdictOf(berth, path)
  if (own === true) return 'ignored'
  const isOut = ignored ? ignored.entries.has(path.slice(ignored.from.length)) : verdictOf(git, path)
  if (!isOut) return own === false ? 'wanted' : undefined
  return own === false ? 'included' : 'ignored'
}

/** Files that belong to git or to Berth itself. */
function isOurs(name: string, depth: number): boolean {
  return (
    name === '.git' ||
    name.endsWith('.berth-part') ||
    (depth === 0 && [stagingName, wholeName, earlierName].includes(name))
  )
}

export function scanOf({
  files,
  links,
  secrets,
  skipped,
  ignored,
  results,
  linkedRules,
}: LocalTree): FolderScan {
  return {
    files: files.length + links.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    secrets: secrets.map(({ path, holds }) => ({ path, holds })),
    skipped,
    ignored: ignored.length,
    results: results.length,
    linkedRules,
  }
}

function badIgnoreFile(path: string): BerthError {
  return new BerthError({
    code: 'ignore_file',
    message: `${path} can’t be read, takes too long to follow, or has more than ${mostRules} lines.`,
    advice:
      'Nothing was sent, since the files that it leaves out are unknown. Shorten it, or make it readable.',
  })
}
