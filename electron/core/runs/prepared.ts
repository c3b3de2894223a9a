import { createHash } from 'node:crypto'
import { shellQuoted } from '#ssh/exec.ts'
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

/** Whether a set-up may read all files of the folder, as `pip install .` does. */
export function readsAllFiles(setup: string): boolean {
  return wordsOf(setup).some(word => /^\.\/?$/.test(word) || /[*?]/.test(word))
}

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

/**
 * Asks the machine whether it is set up already by the same script, environment and files: prints `setup same` then.
 * Notes the script, for `noteSetUp`.
 */
export function askSetUp(
  run: ProjectRun,
  environment: Readonly<Record<string, string>>,
  varying: Readonly<Record<string, string>>,
): string {
  const { setup = '' } = run.project.spec
  const script = createHash('sha256')
    .update(JSON.stringify([setup, Object.entries(environment), variesIn(setup, varying)]))
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
    names: filesOfSetup(run.project.spec.setup ?? '').join('\n'),
    ...more,
  }
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  return ['{', ...assigned, 'cd || exit 1', body, '} < /dev/null', ''].join('\n')
}
