import { createHash } from 'node:crypto'
import { resultsOf } from '#shared/project/bounds.ts'
import { shellQuoted } from '#ssh/exec.ts'
import type { Version } from '#ssh/sync/plan.ts'
import { remoteFolder } from './machine.ts'
import type { ProjectRun } from './model.ts'

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

/** The files that a set-up names, and those that its tools read, by their paths in the folder. */
export function filesOfSetup(setup: string): string[] {
  const named = wordsOf(setup)
    .map(word => word.replace(/^\.\//, ''))
    .filter(word => /^[\w@+][\w./@+-]*$/.test(word) && !word.split('/').includes('..'))
  return [...new Set([...usualFiles, ...named])].slice(0, 200)
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
  files: readonly ({ path: string } & Version)[]
}

/**
 * Asks the machine whether it is set up already by the same script, environment and files: prints `setup same` then. A
 * set-up may read every file but those that the command alone names. Notes what it reads, for `noteSetUp`.
 */
export function askSetUp(run: ProjectRun, { environment, varying, files }: ReadBySetUp): string {
  const { setup = '', run: command } = run.project.spec
  const ofSetup = new Set(filesOfSetup(setup))
  const ofCommand = new Set(wordsOf(command).map(word => word.replace(/^\.\//, '')))
  const read = files
    .filter(({ path }) => ofSetup.has(path) || (path !== 'berth.yaml' && !ofCommand.has(path)))
    .map(({ path, size, modified }) => [path, size, Math.floor(modified)])
    .sort()
  const script = createHash('sha256')
    .update(JSON.stringify([setup, Object.entries(environment), variesIn(setup, varying), read]))
    .digest('hex')
  return prepared(
    run,
    `echo "$script" > "$next" && now=$(${state}) || exit 1
if [ "$now" = "$(cat "$noted" 2>/dev/null)" ]; then echo 'setup same'; else rm -f "$noted"; echo 'setup other'; fi`,
    { script },
  )
}

/** Notes on the machine that it is set up: by its present files, since a set-up may change its own files. */
export function noteSetUp(run: ProjectRun): string {
  return prepared(
    run,
    `rm -f "$listed" && ${state} > "$noted.part" && mv -f "$noted.part" "$noted" && echo 'noted yes'`,
  )
}

/** Prints one line for the script, its environment and the files that it reads. */
const state = `{ cat "$next"; (cd "$folder" && printf '%s\\n' "$names" | while IFS= read -r f; do if [ -f "$f" ]; then sha256sum "$f"; fi; done); } | sha256sum`

/** Notes which files are there before the first run of a sweep, unless that is noted. */
export function noteFiles(run: ProjectRun): string {
  return prepared(
    run,
    `[ -e "$listed" ] || { (cd "$folder" && ${list}) > "$listed.part" && mv -f "$listed.part" "$listed"; } || exit 1
echo 'listed yes'`,
  )
}

/** Removes the previous run's files from the folder, so that no run finds another's. */
export function removeLeftFiles(run: ProjectRun): string {
  return prepared(
    run,
    `if [ -e "$listed" ]; then
(cd "$folder" && ${list}) | LC_ALL=C comm -13 "$listed" - | (cd "$folder" && while IFS= read -r f; do case $f in ./*) rm -f -- "$f" ;; esac; done)
fi
echo 'cleared yes'`,
  )
}

/**
 * Removes the files that were sent before and are no longer in the folder here, and the folders that they leave empty.
 * Results stay. Notes which files there are now.
 */
export function removeGoneFiles(run: ProjectRun, files: readonly { path: string }[]): string {
  const results = resultsOf(run.project.spec).map(path => path.replace(/^(?:\.\/)+/, ''))
  const isResult = (path: string) =>
    results.some(result => result === '.' || path === result || path.startsWith(`${result}/`))
  const names = files.flatMap(({ path }) => (path.includes('\n') || isResult(path) ? [] : `./${path}`))
  const kept = results.map(path => shellQuoted(`./${path}`)).join(' ')
  return prepared(
    run,
    `printf '%s\\n' "$present" | LC_ALL=C sort > "$sent.next" || exit 1
if [ -e "$sent" ]; then
LC_ALL=C comm -23 "$sent" "$sent.next" | (cd "$folder" && while IFS= read -r f; do
for result in ${kept}; do case $f in "$result" | "$result"/*) continue 2 ;; esac; done
case $f in ./*) rm -f -- "$f"; rmdir -p -- "\${f%/*}" 2>/dev/null ;; esac
done)
fi
mv -f "$sent.next" "$sent" && echo 'sent yes'`,
    { present: names.join('\n') },
  )
}

const list = 'find . \\( -type f -o -type l \\) -print | LC_ALL=C sort'

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
    names: filesOfSetup(run.project.spec.setup ?? '').join('\n'),
    ...more,
  }
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  return ['{', ...assigned, 'cd || exit 1', body, '} < /dev/null', ''].join('\n')
}
