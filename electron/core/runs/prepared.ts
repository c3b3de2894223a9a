import { createHash } from 'node:crypto'
import { quote } from '#ssh/ssh-command.ts'
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
 * Asks the machine whether it is set up already by the same script, environment and files: prints `same` then. Notes the
 * script, for `noteSetUp`.
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
  const { noted, next } = placesOf(run)
  return [
    `cd && echo ${script} > ${next} && now=$(${state(run)}) || exit 1`,
    `if [ "$now" = "$(cat ${noted} 2>/dev/null)" ]; then echo same; else rm -f ${noted}; fi`,
  ].join('; ')
}

/** Notes on the machine that it is set up: by what is there now, since a set-up may change its own files. */
export function noteSetUp(run: ProjectRun): string {
  const { noted, files } = placesOf(run)
  return `cd && rm -f ${files} && ${state(run)} > ${noted}.part && mv -f ${noted}.part ${noted}`
}

/** Prints one line for the script, its environment and the files that it reads. */
function state(run: ProjectRun): string {
  const { folder, next } = placesOf(run)
  const files = quote(filesOfSetup(run.project.spec.setup ?? ''))
  return `{ cat ${next}; (cd ${folder} && for f in ${files}; do if [ -f "$f" ]; then sha256sum "$f"; fi; done); } | sha256sum`
}

/** Notes which files are there before the first run of a sweep, unless that is noted. */
export function noteFiles(run: ProjectRun): string {
  const { folder, files } = placesOf(run)
  return `cd && [ -e ${files} ] || { (cd ${folder} && ${list}) > ${files}.part && mv -f ${files}.part ${files}; }`
}

/** Removes what the run before has written in the folder, so that none meets another's files. */
export function removeLeftFiles(run: ProjectRun): string {
  const { folder, files } = placesOf(run)
  return [
    `cd && [ -e ${files} ] || exit 0`,
    `(cd ${folder} && ${list}) | comm -13 ${files} - | (cd ${folder} && while IFS= read -r f; do case $f in ./*) rm -f -- "$f" ;; esac; done)`,
  ].join('; ')
}

const list = 'find . \\( -type f -o -type l \\) -print | LC_ALL=C sort'

/** Relative to the home folder, quoted. */
function placesOf(run: ProjectRun) {
  const folder = remoteFolder(run)
  const beside = folder.replace(/([^/]+)$/, '.$1')
  return {
    folder: quote([folder]),
    noted: quote([`${beside}.setup`]),
    next: quote([`${beside}.setup.next`]),
    files: quote([`${beside}.files`]),
  }
}
