import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { endDetached } from '#test/integration/ssh/sshd.ts'
import { jobOf, openProject, type ProjectPlace, write } from '../projects/place.ts'

/** Prints all that a command may find: its place, variables, files, and what an earlier command left running. */
const look = `mkdir seen
{
pwd; umask; env | grep -v -e '^BERTH_' -e '^SSH_' -e '^_=' | sort
for env in $(grep -ls "$MARK" /proc/[0-9]*/environ); do grep -s sleep "\${env%environ}comm" || true; done
find . -path ./seen -prune -o -printf '%p %m %l\\n' | sort
find . -path ./seen -prune -o -type f -print | sort | while read -r f; do echo "== $f"; cat "$f"; done
} > seen/all
`

/** What a command does to the machine before it ends. */
const acts = [
  'echo x > left.txt',
  'mkdir -p left/deep && echo y > left/deep/er',
  'mkdir empty',
  'ln -s /etc/hostname link',
  'mkfifo pipe',
  'echo more >> train.py',
  'rm -f train.py',
  'chmod 700 requirements.txt',
  'rm -f train.py; mkdir -p train.py/deep',
  'rm -rf lib; echo x > lib',
  'echo more >> made/by-setup',
  'rm -rf made',
  'echo z > made/left',
  'setsid sleep 600 &',
  'nohup setsid sleep 600 > /dev/null 2>&1 &',
  '(setsid sh -c "sleep 600 & sleep 600" &)',
  'export LEAKED=yes; umask 0; cd /',
]

/** What is at a path of the project's folder; nothing where it is undefined. */
type Entry = { file: string; mode?: number } | { link: string } | 'folder' | undefined

const paths = [
  'train.py',
  'lib',
  'lib/a b.py',
  'data',
  'data/c',
  'empty',
  '-d',
  'requirements.txt',
  'tools.sh',
]

/** Two states of a project: what the first run finds there, and the second. */
const project = fc.record({
  entries: fc.dictionary(fc.constantFrom(...paths), fc.tuple(entry(), entry(), fc.boolean()), { minKeys: 4 }),
  env: fc.tuple(fc.constantFrom('one', 'two words', '1e-4'), fc.constantFrom('one', '007')),
  reads: fc.boolean(),
})

type Project = typeof project extends fc.Arbitrary<infer Value> ? Value : never

function entry(): fc.Arbitrary<Entry> {
  const file = fc.record({
    file: fc.constantFrom('', 'torch\n', 'jax\n'),
    mode: fc.constantFrom(0o644, 0o755),
  })
  const link = fc.record({ link: fc.constantFrom('train.py', 'lib', '../nowhere', 'data') })
  return fc.oneof({ weight: 4, arbitrary: file }, link, fc.constantFrom<Entry>('folder', undefined))
}

/** Makes the folder what a state says, and leaves alone what is the same in both. */
function become(folder: string, entries: readonly (readonly [path: string, entry: Entry])[]): void {
  for (const [path] of entries) {
    try {
      rmSync(join(folder, path), { recursive: true, force: true })
    } catch {
      // What is above it is a file.
    }
  }
  for (const [path, to] of entries.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const at = join(folder, path)
    try {
      mkdirSync(to === 'folder' ? at : dirname(at), { recursive: true })
      if (to === undefined || to === 'folder') continue
      if ('link' in to) symlinkSync(to.link, at)
      else writeFileSync(at, to.file, { mode: to.mode })
    } catch {
      // What is above it is no folder in this state.
    }
  }
}

/** What becomes of each kind of entry, which is tried each time; others are random, and as many as are asked for. */
const example: Project = {
  entries: {
    'train.py': [{ file: 'torch\n' }, { link: 'tools.sh' }, false],
    lib: [{ link: 'data' }, 'folder', false],
    'lib/a b.py': [undefined, { file: 'jax\n' }, false],
    data: ['folder', { file: 'jax\n' }, false],
    'data/c': [{ file: 'torch\n' }, undefined, false],
    empty: ['folder', undefined, false],
    '-d': [{ file: 'jax\n' }, { file: 'jax\n', mode: 0o755 }, false],
    'requirements.txt': [{ file: 'torch\n' }, undefined, true],
    'tools.sh': [{ file: 'torch\n' }, 'folder', false],
  },
  env: ['one', '007'],
  reads: false,
}
const seeds = Array.from({ length: Number(process.env['BERTH_PROJECTS'] ?? 1) }, (_, seed) => seed)

/** A variable of the commands. */
const mark = `mark-${randomUUID()}`

const specOf = (done: readonly string[], reads: boolean, env: string) => {
  const setup = 'rm -rf made; mkdir made; cat requirements.txt train.py > made/by-setup 2>&1 || true'
  const named = { run: setup, reads: ['requirements.txt', 'train.py'] }
  return `setup: ${JSON.stringify(reads ? named : setup)}
env: { MARK: ${mark}, OF: "${env}" }
run: ${JSON.stringify([look, ...done.map(act => `${act} || true`), 'true'].join('\n').replaceAll('& || true', '&'))}
results: seen
keep: 1h
stop: { hours: 8 }
`
}

describe.skipIf(noSshd)(`a run on a machine that waited${noSshd}`, () => {
  test.each(seeds)('finds and prints what it would on a fresh one, project %s', async seed => {
    onTestFinished(endMarked)
    const place = await openProject({ 'berth.yaml': specOf([], false, '') })
    const done = fc.uniqueArray(fc.constantFrom(...acts), { minLength: 6 })
    const property = fc.asyncProperty(project, done, async ({ entries, env, reads }, first) => {
      const all = Object.entries(entries).map(([path, [before, after, isSame]]) => ({
        path,
        before,
        after,
        isSame,
      }))
      become(
        place.folder,
        paths.map(path => [path, undefined] as const),
      )
      become(
        place.folder,
        all.map(({ path, before }) => [path, before] as const),
      )
      write(place.folder, { 'berth.yaml': specOf(first, reads, env[0]) })
      await seenBy(place)
      const changed = all.filter(({ isSame }) => !isSame)
      become(
        place.folder,
        changed.map(({ path, after }) => [path, after] as const),
      )
      write(place.folder, { 'berth.yaml': specOf(first, reads, env[1]) })
      const warm = await seenBy(place)
      await endWaiting(place)
      expect(warm).toBe(await seenBy(place))
      await endWaiting(place)
    })
    const examples: [Project, string[]][] = seed === 0 ? [[example, [...acts]]] : []
    await fc.assert(property, { seed, numRuns: 1, examples, endOnFailure: true })
  })
})

async function seenBy({ under, folder, runProject }: ProjectPlace): Promise<string> {
  rmSync(join(folder, 'seen'), { recursive: true, force: true })
  const id = await runProject()
  await under.until(() => ['done', 'failed'].includes(jobOf(under, id)?.step ?? ''))
  expect(jobOf(under, id)?.problem).toBeUndefined()
  await under.until(() => Object.keys(under.account().waiting).length === 1)
  return readFileSync(join(folder, 'seen', 'all'), 'utf8')
}

/** Ends what commands left running in sessions of their own. */
function endMarked(): void {
  const pids = `grep -ls 'MARK=${mark}' /proc/[0-9]*/environ | cut -d / -f 3`
  execFileSync('sh', ['-c', `for pid in $(${pids}); do kill -KILL "$pid" 2>/dev/null || true; done`])
}

/** Ends the waiting machine, and leaves the next one nothing of it. */
async function endWaiting({ under, sshd }: ProjectPlace): Promise<void> {
  const [instance] = Object.keys(under.account().waiting)
  await under.run('endWaiting', { instance: Number(instance) })
  await under.until(() => Object.keys(under.account().instances).length === 0)
  endDetached(sshd.home)
  endMarked()
  for (const name of ['berth', '.berth']) rmSync(join(sshd.home, name), { recursive: true, force: true })
}
