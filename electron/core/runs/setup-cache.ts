import { createHash } from 'node:crypto'
import { resultsOf, setupOf } from '#shared/project/bounds.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { shellQuoted } from '#ssh/exec.ts'
import { markedProcesses } from '#ssh/runs/runs.ts'
import { boundedAttempts, verdictOf, withRules } from '#ssh/sync/ignore-rules.ts'
import type { Present } from '#ssh/sync/up.ts'
import type { ProjectRun } from './model.ts'
import { commandMark, remoteFolder } from './remote.ts'

/** Files that set-ups read without naming them. */
const usualFiles = [
  'requirements.txt',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'environment.yml',
  'uv.lock',
  'poetry.lock',
  'package.json',
  'package-lock.json',
  'Makefile',
]

/**
 * The files that a set-up names, and those that its tools read, by their paths in the folder; only those that the project
 * names, where it does.
 */
export function filesOfSetup(spec: Pick<ProjectSpec, 'setup'>): string[] {
  const { run = '', reads } = setupOf(spec) ?? {}
  const named = (reads ?? wordsOf(run))
    .map(word => word.replace(/^\.\//, ''))
    .filter(word => /^[\w@+][\w./@+-]*$/.test(word) && !word.split('/').includes('..'))
  return [...new Set([...(reads ? [] : usualFiles), ...named])].slice(0, 200)
}

function wordsOf(setup: string): string[] {
  return setup.split(/[\s;|&()<>"'`=]+/).filter(word => word !== '')
}

/** The variables that a set-up names of those that differ from run to run. */
function variesIn(setup: string, varying: Readonly<Record<string, string>>): string[] {
  return Object.entries(varying).flatMap(([name, value]) => (setup.includes(name) ? `${name}=${value}` : []))
}

interface ReadBySetUp {
  environment: Readonly<Record<string, string>>
  /** The variables that differ from run to run. */
  varying: Readonly<Record<string, string>>
  /** The folder's files that are on the machine. */
  files: Present['present']
}

/**
 * Asks the machine whether it is set up already by the same script, environment and files: prints `setup same` then. A
 * set-up may read every file but those that the command alone names, or those that the project names. Notes what it reads,
 * for `noteSetUp`.
 */
export function askSetUp(run: ProjectRun, { environment, varying, files }: ReadBySetUp): string {
  const { run: setup = '', reads } = setupOf(run.project.spec) ?? {}
  const matching = reads ? matchingFiles(reads, files) : readUnnamed(run.project.spec, files)
  // What matches nothing may be misspelled.
  const isUnclear = matching === undefined
  const read = (matching ?? files)
    .map(({ path, size, modified, executable, target }) => [
      path,
      size,
      Math.floor(modified),
      executable,
      target,
    ])
    .sort()
  const script = createHash('sha256')
    .update(JSON.stringify([setup, Object.entries(environment), variesIn(setup, varying), read]))
    .digest('hex')
  return prepared(
    run,
    `echo "$script" > "$next" && now=$(${state}) || exit 1
if [ -z "$unclear" ] && [ "$now" = "$(cat "$noted" 2>/dev/null)" ]; then echo 'setup same'; else rm -f "$noted"; echo 'setup other'; fi`,
    { script, unclear: isUnclear ? 'yes' : '' },
  )
}

/** The files that a set-up may read where the project names none: all but those that the command alone names. */
function readUnnamed(spec: ProjectSpec, files: ReadBySetUp['files']): ReadBySetUp['files'] {
  const ofSetup = new Set(filesOfSetup(spec))
  const ofCommand = new Set(wordsOf(spec.run).map(word => word.replace(/^\.\//, '')))
  return files.filter(({ path }) => ofSetup.has(path) || (path !== 'berth.yaml' && !ofCommand.has(path)))
}

/** The files that match the patterns; undefined if one of them matches none, or takes too long. */
function matchingFiles(
  reads: readonly string[],
  files: ReadBySetUp['files'],
): ReadBySetUp['files'] | undefined {
  const matching = (text: string) => {
    const rules = withRules([], text, { ignoreCase: false })
    return files.filter(({ path }) => verdictOf(rules, path) === true)
  }
  try {
    return boundedAttempts()(() => {
      const including = reads.filter(pattern => !pattern.startsWith('!'))
      return including.every(pattern => matching(pattern).length > 0) ? matching(reads.join('\n')) : undefined
    })
  } catch {
    return undefined
  }
}

/** Notes on the machine that it is set up: by its present files, since a set-up may change its own files. */
export function noteSetUp(run: ProjectRun): string {
  return prepared(
    run,
    `rm -f "$listed" && ${state} > "$noted.part" && mv -f "$noted.part" "$noted" && echo 'noted yes'`,
  )
}

/** Prints one line for the script, its environment and the files that it reads. */
const state = `{
sum=$(command -v sha256sum || command -v cksum) && cat "$next" &&
(cd "$folder" && printf '%s\\n' "$names" | while IFS= read -r f; do if [ -f "$f" ]; then "$sum" "$f"; fi; done)
} | { "$(command -v sha256sum || command -v cksum)"; }`

/**
 * Notes what is in the folder before the command begins: before the first run of a sweep, and before each run after which
 * the machine waits.
 */
export function noteFiles(run: ProjectRun): string {
  return prepared(
    run,
    `{ [ -n "$once" ] && [ -e "$listed" ]; } || { (cd "$folder" && ${list}) > "$listed.part" && mv -f "$listed.part" "$listed"; } || exit 1
echo 'listed yes'`,
    { once: run.sweep || !run.reuses ? 'yes' : '' },
  )
}

/**
 * Ends what the previous run's command left running, also in sessions of its own, and removes what it left in the folder, so
 * that no run finds another's. Where it changed or removed what the set-up made, that counts as not set up.
 */
export function removeLeft(run: ProjectRun): string {
  return prepared(
    run,
    `${markedProcesses}
left() { marked "$mark"; }
if [ -n "$(left)" ]; then
kill -TERM $(left) 2>/dev/null
for second in 1 2 3 4 5; do [ -z "$(left)" ] || sleep 1; done
[ -z "$(left)" ] || kill -KILL $(left) 2>/dev/null
fi
if [ -e "$listed" ]; then
(cd "$folder" && ${list}) > "$listed.now"
sed 's|/$||' "$sent" 2>/dev/null | LC_ALL=C sort > "$sent.paths"
{ (cd "$folder" && find . -type f -newer "$HOME/$listed") | LC_ALL=C sort | LC_ALL=C comm -12 "$listed" -
  LC_ALL=C comm -23 "$listed" "$listed.now"; } |
LC_ALL=C sort | LC_ALL=C comm -23 - "$sent.paths" | while IFS= read -r f; do
${butResults(run)}
rm -f "$noted"
done
LC_ALL=C comm -13 "$listed" "$listed.now" | LC_ALL=C sort -r | (cd "$folder" && while IFS= read -r f; do
${removeOne}
done)
fi
echo 'cleared yes'`,
    { mark: commandMark(run) },
  )
}

/**
 * Removes the files and empty folders that were sent before and are no longer in the folder here. Results stay. Notes what
 * there is now. `clears`: also what a command made of another kind in their place, but for links.
 */
export function removeGone(run: ProjectRun, { present, folders }: Present, clears = false): string {
  const results = resultsIn(run)
  const isResult = (path: string) =>
    results.some(result => result === '.' || path === result || path.startsWith(`${result}/`))
  const known = (paths: readonly string[]) => paths.filter(path => !path.includes('\n') && !isResult(path))
  // With its slash a folder is another entry than a file in its place.
  const names = [
    ...known(present.map(({ path }) => path)).map(path => `./${path}`),
    ...known(folders).map(path => `./${path}/`),
  ]
  return prepared(
    run,
    `printf '%s\\n' "$present" | LC_ALL=C sort > "$sent.next" || exit 1
if [ -e "$sent" ]; then
LC_ALL=C comm -23 "$sent" "$sent.next" | LC_ALL=C sort -r | (cd "$folder" && while IFS= read -r f; do
${butResults(run)}
${removeOne}
done)
fi
[ -z "$clears" ] || (cd "$folder" && while IFS= read -r f; do
if [ -L "\${f%/}" ]; then continue; fi
case $f in
*/) if [ -f "\${f%/}" ]; then rm -f -- "\${f%/}"; fi ;;
*) if [ -d "$f" ]; then rmdir -- "$f" 2>/dev/null; fi ;;
esac
done < "$HOME/$sent.next")
mv -f "$sent.next" "$sent" && echo 'sent yes'`,
    { present: names.join('\n'), clears: clears ? 'yes' : '' },
  )
}

function resultsIn({ project }: ProjectRun): string[] {
  return resultsOf(project.spec).map(path => path.replace(/^(?:\.\/)+/, ''))
}

/** Goes on with the next path `$f` of a loop where it's a result. */
function butResults(run: ProjectRun): string {
  const results = resultsIn(run).map(path => shellQuoted(`./${path}`))
  return `for result in ${results.join(' ')}; do case $f in "$result" | "$result"/*) continue 2 ;; esac; done`
}

/** Removes what is at the path `$f`, of a folder only an empty one. */
const removeOne =
  'case $f in ./*) if [ -d "$f" ] && [ ! -L "$f" ]; then rmdir -- "$f" 2>/dev/null; else rm -f -- "$f"; fi ;; esac'

const list = 'find . -print | LC_ALL=C sort'

/** A script for `sh -s` that sets its variables first; its paths are relative to the home folder. */
function prepared(run: ProjectRun, body: string, more: Readonly<Record<string, string>> = {}): string {
  const folder = remoteFolder(run)
  const at = folder.lastIndexOf('/') + 1
  const beside = `${folder.slice(0, at)}.${folder.slice(at)}`
  const values = {
    folder,
    noted: `${beside}.setup`,
    next: `${beside}.setup.next`,
    listed: `${beside}.files`,
    sent: `${beside}.sent`,
    names: filesOfSetup(run.project.spec).join('\n'),
    ...more,
  }
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  return ['{', ...assigned, 'unset CDPATH', 'cd || exit 1', body, '} < /dev/null', ''].join('\n')
}
