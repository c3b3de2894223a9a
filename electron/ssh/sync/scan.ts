import { posix } from 'node:path'
import { earlierName, type FileFacts, type LocalEntry, type SyncedFolder } from '#platform/folders.ts'
import { inSlices } from '#platform/tasks.ts'
import { countTree } from '#shared/instance/files.ts'
import { likelySecret, longestLookedAt } from '#shared/instance/secrets.ts'
import type { FolderScan, Skipped } from '#shared/instance/sync.ts'
import { BerthError } from '#shared/problem.ts'
import { boundedAttempts, type RuleFiles, verdictOf, withoutRulesFor, withRules } from './ignore-rules.ts'

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
/** The most entries that are tried at a time, and milliseconds of trying rules. */
const together = 1000
const moment = 5

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
  const tries = boundedAttempts()
  await visit('', await rulesFrom('', []), await folder.list(''))
  leaveLinksToResults()
  return tree

  /** Leaves out links of whose goal only results that stay here have been found: a command may take one for its newest checkpoint. */
  function leaveLinksToResults(): void {
    if (tree.results.length === 0) return
    tree.links = tree.links.filter(({ path, target }) => {
      const goal = posix.join(posix.dirname(path), target)
      const isThere = (one: string) => one === goal || one.startsWith(`${goal}/`)
      return !tree.results.some(isThere) || tree.files.some(file => isThere(file.path))
    })
  }

  /** `start`: the folder's path with `/` at its end, or `''`. */
  async function visit(
    start: string,
    above: InForce,
    entries: readonly LocalEntry[],
    { depth = 0, isIncluded = false } = {},
  ): Promise<void> {
    const rules = await rulesIn(start, entries, above)
    let left = entries.filter(({ name }) => !isOurs(name, depth))
    while (left.length > 0) {
      await turn()
      signal?.throwIfAborted()
      const verdicts = verdictsOn(left, start, rules)
      for (const [index, verdict] of verdicts.entries()) {
        const entry = left[index]
        if (!entry) continue
        const path = start + entry.name
        if (verdict === 'ignored') {
          tree.ignored.push(path + (entry.kind === 'folder' ? '/' : ''))
          continue
        }
        count(path, depth)
        const within = isIncluded || verdict !== undefined
        if (entry.kind === 'folder')
          await enter(path, rules, { verdict, isIncluded: within, depth: depth + 1 })
        else if (entry.kind !== 'file') addOther(entry, path)
        else {
          const { size, modified, executable } = entry
          const file = { path, size, modified, executable }
          if (!within && isResult(file)) tree.results.push(path)
          else if (secrets) await addLookedInto(file)
          else tree.files.push(file)
        }
      }
      left = left.slice(verdicts.length)
    }
  }

  /** A repository in the folder has its own rules, and so has a folder that only git ignores. */
  async function enter(
    path: string,
    rules: InForce,
    { verdict, ...place }: { verdict: Verdict; depth: number; isIncluded: boolean },
  ): Promise<void> {
    const entries = await folder.list(path).catch(() => undefined)
    if (entries === undefined) {
      tree.skipped.push({ path, why: 'unreadable' })
      return
    }
    const before = contentsOf(tree)
    const at = tree.folders.push(path) - 1
    const isAnew = verdict === 'included' || entries.some(({ name }) => name === '.git')
    await visit(`${path}/`, isAnew ? await rulesFrom(path, rules.berth) : rules, entries, place)
    // A command may expect to make the folder of its results, and takes an empty one in it for a checkpoint.
    leaveLinksToResults()
    const { results, others } = contentsOf(tree)
    if (results > before.results && others === before.others) tree.folders.length = at
  }

  /** The verdicts on the first entries: on as many as can be tried in a moment. */
  function verdictsOn(entries: readonly LocalEntry[], start: string, rules: InForce): Verdict[] {
    const verdict = ({ name, kind }: LocalEntry) =>
      verdictOn(rules, start + name + (kind === 'folder' ? '/' : ''))
    const some = entries.slice(0, together)
    if (rules.git.length + rules.berth.length === 0) return some.map(verdict)
    try {
      return tries(() => {
        const until = performance.now() + moment
        const verdicts: Verdict[] = []
        for (const entry of some) {
          verdicts.push(verdict(entry))
          if (performance.now() > until) break
        }
        return verdicts
      })
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

  async function addLookedInto(file: LocalFile): Promise<void> {
    const secret = await secretOf(folder, file)
    if (secret) tree.secrets.push({ ...file, ...secret })
    else tree.files.push(file)
  }

  function addOther({ kind, target }: LocalEntry, path: string): void {
    if (kind === 'link' && target !== undefined) tree.links.push({ path, target })
    else if (kind !== 'file') tree.skipped.push({ path, why: reasons[kind] })
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

function contentsOf({ files, links, secrets, results }: LocalTree) {
  return { results: results.length, others: files.length + links.length + secrets.length }
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
