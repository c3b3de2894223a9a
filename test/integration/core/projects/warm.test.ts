import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { endDetached } from '#test/integration/ssh/sshd.ts'
import { jobOf, openProject, type ProjectPlace, write } from './place.ts'

/** Prints all that a command may find: its place, variables, files, and what an earlier command left running. */
const look = `mkdir seen
{
pwd; umask; env | grep -v -e '^BERTH_' -e '^SSH_' -e '^_=' | sort
for env in $(grep -ls "$MARK" /proc/[0-9]*/environ); do grep -s sleep "\${env%environ}comm" || true; done
find . -path ./seen -prune -o -print | sort
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
  'echo more >> made/by-setup',
  'rm -rf made',
  'echo z > made/left',
  'setsid sleep 600 &',
  'nohup setsid sleep 600 > /dev/null 2>&1 &',
  '(setsid sh -c "sleep 600 & sleep 600" &)',
  'export LEAKED=yes; umask 0; cd /',
]

/** What the user does between two runs. */
const edits = [
  (folder: string) => write(folder, { 'train.py': 'two\n' }),
  (folder: string) => write(folder, { 'lib/new.py': 'new\n' }),
  (folder: string) => rmSync(join(folder, 'lib', 'old.py')),
  (folder: string) => write(folder, { 'requirements.txt': 'jax\n' }),
  () => undefined,
]

/** The same on every computer, since each case takes some seconds; others by hand. */
const sample = {
  numRuns: Number(process.env['BERTH_PROJECTS'] ?? 1),
  seed: Number(process.env['BERTH_SEED'] ?? 1),
}

/** A variable of the commands. */
const mark = `mark-${randomUUID()}`

const specOf = (done: readonly string[], reads: boolean) => {
  const setup = 'rm -rf made; mkdir made; cat requirements.txt > made/by-setup'
  return `setup: ${reads ? JSON.stringify({ run: setup, reads: 'requirements.txt' }) : JSON.stringify(setup)}
env: { MARK: ${mark} }
run: ${JSON.stringify([look, ...done.map(act => `${act} || true`), 'true'].join('\n').replaceAll('& || true', '&'))}
results: seen
keep: 1h
stop: { hours: 8 }
`
}

describe.skipIf(noSshd)(`a run on a machine that waited${noSshd}`, () => {
  test('finds and prints what it would on a fresh one', async () => {
    onTestFinished(endMarked)
    const place = await openProject({
      'train.py': 'one\n',
      'requirements.txt': 'torch\n',
      'lib/old.py': 'old\n',
    })
    const cases = fc.sample(
      fc.record({
        first: fc.uniqueArray(fc.constantFrom(...acts), { minLength: 6 }),
        edit: fc.constantFrom(...edits),
        reads: fc.boolean(),
      }),
      sample,
    )
    for (const { first, edit, reads } of cases) {
      write(place.folder, { 'train.py': 'one\n', 'requirements.txt': 'torch\n', 'lib/old.py': 'old\n' })
      write(place.folder, { 'berth.yaml': specOf(first, reads) })
      await seenBy(place)
      edit(place.folder)
      const warm = await seenBy(place)
      await endWaiting(place)
      expect(warm, `${first.join('; ')}, ${edit}`).toBe(await seenBy(place))
      await endWaiting(place)
    }
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
