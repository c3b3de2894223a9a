import { expect, test } from 'vitest'
import { openOwnTerminal, ownTerminalArgs } from '#ssh/shell/system-terminal.ts'

const ssh = ['/usr/bin/ssh', '-i', '/home/me/my key', '--', 'root@203.0.113.7']
const address = { host: '203.0.113.7', port: 2222 }

test('{ssh} alone becomes separate arguments, within an argument one quoted line', () => {
  expect(ownTerminalArgs(['-e', '{ssh}'], ssh, address)).toEqual(['-e', ...ssh])
  expect(ownTerminalArgs(['--run', 'exec {ssh}'], ssh, address)).toEqual([
    '--run',
    "exec /usr/bin/ssh -i '/home/me/my key' -- root@203.0.113.7",
  ])
  expect(ownTerminalArgs(['{host}:{port}'], ssh, address)).toEqual(['203.0.113.7:2222'])
})

test('without a placeholder the ssh command is appended', () => {
  expect(ownTerminalArgs(['-e'], ssh, address)).toEqual(['-e', ...ssh])
})

test('the terminal is started by its path with a list of arguments; a missing one is an error', async () => {
  const launched: [string, readonly string[]][] = []
  const programs = {
    find: async (name: string) => (name === 'gone' ? undefined : `/bin/${name}`),
    launch: async (program: string, args: readonly string[]) => void launched.push([program, args]),
  }
  await openOwnTerminal(programs, ['my-term', '-e', '{ssh}'], ['ssh', '-p', '1'], address)
  expect(launched).toEqual([['/bin/my-term', ['-e', '/bin/ssh', '-p', '1']]])
  await expect(openOwnTerminal(programs, ['gone'], ['ssh'], address)).rejects.toMatchObject({
    problem: { code: 'no_terminal' },
  })
})
