import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { openScratch } from './machine.ts'
import { asRootNeeds, noSshd } from './own-root.ts'
import { startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

/** The programs of an image, besides its shell. */
const tools =
  'basename cat chmod cp cut dirname env false grep head id kill ls mkdir mv nohup ps rm sed seq setsid sleep sort tail tee touch tr true uniq uname wc'

/** A machine whose image has only these programs, with `sh` being that shell. */
async function machineWith(shell: string): Promise<Connection> {
  const { machine, ssh } = openScratch()
  const bin = join(machine.home, 'bin')
  mkdirSync(bin)
  const find = (name: string) => execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  for (const name of tools.split(' ')) {
    const own = shell === 'busybox' ? find(shell) : `/usr/bin/${name}`
    symlinkSync(own, join(bin, name))
  }
  symlinkSync(find(shell), join(bin, 'sh'))
  for (const name of ['unshare', ...(asRootNeeds.length > 0 ? ['mount'] : [])])
    symlinkSync(find(name), join(bin, name))
  if (shell === 'bash') symlinkSync(find(shell), join(bin, 'bash'))
  const sshd = await startSshd([`SetEnv PATH=${bin}`], { PATH: bin })
  onTestFinished(() => sshd.close())
  sshd.authorize((await ssh.keysOf(account).load('berth')).publicKey)
  return (await ssh.connect(target({ direct: sshd }))).connection
}

async function outcome(connection: Connection, id: string, command: string) {
  await startRun(connection, systemClock, id, { command, order: undefined, environment: {} })
  const status = () => readRunStatus(connection, systemClock, id, 0)
  await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('ended')
  const { code, bytes } = await status()
  return { code, output: bytes.toString() }
}

/** Lines of a command: whether each fails, and which output it has. */
const lines = [
  { line: 'echo one', output: 'one\n' },
  { line: 'false || echo two', output: 'two\n' },
  { line: 'if false; then echo no; fi', output: '' },
  { line: '! false', output: '' },
  { line: 'echo three | tee log', output: 'three\n' },
  { line: 'false', fails: 1, output: '' },
  { line: '(exit 7)', fails: 7, output: '' },
  { line: 'sh -c "exit 9"', fails: 9, output: '' },
] as const
const inPipe = { line: '(echo four; exit 5) | tee log', fails: 5, output: 'four\n' } as const

const installed = (shell: string) => {
  try {
    return execFileSync('sh', ['-c', `command -v ${shell}`]).length > 0
  } catch {
    return false
  }
}

describe.skipIf(noSshd)(`a run${noSshd}`, () => {
  test.skipIf(!installed('busybox'))('ends at its first failing line, also in a pipe, in BusyBox', () =>
    expectFirstFailure('busybox', true),
  )
  test('ends at its first failing line, also in a pipe, in bash', () => expectFirstFailure('bash', true))
  test.skipIf(!installed('dash'))(
    'ends at its first failing line in dash, and says that a pipe hides one',
    async () => {
      const connection = await expectFirstFailure('dash', false)
      const { code, output } = await outcome(connection, 'pipe', `${inPipe.line}\necho on`)
      expect(code).toBe(0)
      expect(output).toContain('no pipefail')
      expect(output).toContain('four\non\n')
      // Where nothing is piped, nothing is said.
      expect(await outcome(connection, 'plain', 'false || echo on')).toEqual({ code: 0, output: 'on\n' })
    },
  )
})

async function expectFirstFailure(shell: string, hasPipefail: boolean): Promise<Connection> {
  const connection = await machineWith(shell)
  let count = 0
  const kinds = hasPipefail ? [...lines, inPipe] : lines
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }), async chosen => {
      const failing = chosen.findIndex(one => 'fails' in one)
      const ran = failing === -1 ? chosen : chosen.slice(0, failing + 1)
      const { code, output } = await outcome(
        connection,
        `${shell}${count++}`,
        chosen.map(({ line }) => line).join('\n'),
      )
      const last = chosen[failing]
      expect(code).toBe(last !== undefined && 'fails' in last ? last.fails : 0)
      // Dash's word about pipes comes first.
      expect(output.endsWith(ran.map(one => one.output).join(''))).toBe(true)
    }),
    { numRuns: 6, endOnFailure: true, examples: [[[kinds[kinds.length - 1] ?? lines[5], lines[0]]]] },
  )
  return connection
}
