import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { processes, readProcess } from '#build/process-tree.ts'
import { isInstalled } from '#build/system-parts.ts'
import environment from '#ssh/runs/environment.sh?raw'
import links from '#ssh/runs/links.sh?raw'
import place from '#ssh/runs/place.sh?raw'
import run from '#ssh/runs/run.sh?raw'
import status from '#ssh/runs/status.sh?raw'
import store from '#ssh/runs/store.sh?raw'
import whole from '#ssh/runs/whole.sh?raw'
import { endDetached } from '#test/integration/ssh/sshd.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const shells: [string, string[]][] = [
  ['dash', ['dash']],
  ['bash', ['bash', '--posix']],
  ['BusyBox', ['busybox', 'sh']],
]
const installed = shells.filter(([, [program = '']]) => isInstalled(program))

/** Runs a command to its end, and gives its exit code. */
async function ended(
  [program = '', ...args]: readonly string[],
  files: Readonly<Record<string, string>>,
  meanwhile: (here: string) => Promise<void> = async () => undefined,
) {
  const here = temporaryFolder({ 'run.sh': `${environment}\n${run}`, ...files })
  // What may be slow to begin is in `bin`.
  const PATH = `${here}/bin:${process.env['PATH']}`
  if (files['bin/sh'] !== undefined) chmodSync(join(here, 'bin/sh'), 0o755)
  onTestFinished(() => endDetached(here))
  const child = spawn(program, [...args, join(here, 'run.sh')], {
    env: { HOME: here, PATH },
    stdio: 'ignore',
  })
  await Promise.all([once(child, 'exit'), meanwhile(here)])
  await expect.poll(() => leftOf(here)).toEqual([])
  return readFileSync(join(here, 'code'), 'utf8').trim()
}

function stateOf(here: string): string | undefined {
  const script = `${place}\nhere=${here} from=0 most=0\n${status}`
  return spawnSync('sh', ['-s'], { input: script }).stdout.toString().split(' ')[0]
}

/** The processes of a run: those with its folder in their command line. */
function leftOf(here: string): string[] {
  return processes().flatMap(({ pid }) => {
    const line = readProcess(pid, 'cmdline')
    return line.includes(`${here}/`) ? line : []
  })
}

/** What a process does between its start and its own first line: it takes signals as the one that started it. */
const begins = 'trap : HUP INT TERM; sleep 0.3'

describe.each(installed)('a command that ends at once, by %s,', (_, shell) => {
  test('ends its run although the clock beside it has not begun', async () => {
    const clock = "  trap 'kill -KILL $!"
    const slow = run.replace(clock, `  ${begins}\n${clock}`)
    expect(slow).not.toBe(run)
    const code = await ended(shell, { command: 'exit 3', 'run.sh': `${environment}\n${slow}` })
    expect(code).toBe('3')
  })

  test('ends its run although the store beside it has not begun', async () => {
    const code = await ended(shell, {
      command: 'exit 3',
      store: '600\none\n/nowhere\n.\nout\n',
      'store.sh': `${links}\n${whole}\n${store}`,
      'bin/sh': `#!/bin/dash\n${begins}; exec /bin/sh "$@"\n`,
    })
    expect(code).toBe('3')
  })

  test('begins only once what the last machine had has been put in its place, as its status says', async () => {
    const taking = spawn('sleep', ['600'])
    onTestFinished(() => void taking.kill())
    setTimeout(() => taking.kill(), 1500)
    const begun = performance.now()
    const files = {
      command: 'until [ -e seen ]; do sleep 0.1; done; exit 3',
      '.berth/left/7/taking': `${taking.pid}\n`,
    }
    const code = await ended(shell, files, async here => {
      await expect.poll(() => stateOf(here)).toBe('starting')
      await expect.poll(() => stateOf(here), { timeout: 20_000 }).toBe('running')
      expect(performance.now() - begun).toBeGreaterThanOrEqual(1500)
      writeFileSync(join(here, 'seen'), '')
    })
    expect(code).toBe('3')
  })
})
