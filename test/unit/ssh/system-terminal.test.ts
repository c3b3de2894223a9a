import { describe, expect, test } from 'vitest'
import {
  findTerminals,
  openOwnTerminal,
  openSystemTerminal,
  ownTerminalArgs,
} from '#ssh/shell/system-terminal.ts'
import { testPrograms } from '#test/berth/machine.ts'

const command = ['ssh', '-o', 'A="b c;d"', '--', 'root@h']
const rest = ['-o', 'A="b c;d"', '--', 'root@h']

describe('on Linux', () => {
  test.each([
    ['x-terminal-emulator', ['-e', '/bin/ssh', ...rest]],
    ['gnome-terminal', ['--', '/bin/ssh', ...rest]],
    ['ptyxis', ['--new-window', '--', '/bin/ssh', ...rest]],
    ['kgx', ['--', '/bin/ssh', ...rest]],
    ['xdg-terminal-exec', ['/bin/ssh', ...rest]],
    ['xterm', ['-e', '/bin/ssh', ...rest]],
    ['konsole', ['-e', '/bin/ssh', ...rest]],
    ['xfce4-terminal', ['-x', '/bin/ssh', ...rest]],
    ['kitty', ['/bin/ssh', ...rest]],
    ['alacritty', ['-e', '/bin/ssh', ...rest]],
    ['wezterm', ['start', '--', '/bin/ssh', ...rest]],
    ['ghostty', ['-e', '/bin/ssh', ...rest]],
    ['foot', ['/bin/ssh', ...rest]],
  ])('%s gets the command as a list', async (name, args) => {
    const { programs, launched } = testPrograms(name, 'ssh')
    await openSystemTerminal({ programs, platform: 'linux' }, name, command)
    expect(launched).toEqual([[`/bin/${name}`, ...args]])
  })

  test('installed terminals are found, the desktop’s own first', async () => {
    const { programs } = testPrograms('kitty', 'x-terminal-emulator')
    const found = await findTerminals(programs, 'linux')
    expect(found.map(({ id }) => id)).toEqual(['x-terminal-emulator', 'kitty'])
  })
})

describe('on macOS', () => {
  const iterm = '/Applications/iTerm.app/Contents/MacOS/iTerm2'
  const ghostty = '/Applications/Ghostty.app/Contents/MacOS/ghostty'

  test.each(['terminal', 'iterm2'])('%s gets the quoted command as an argument of the script', async id => {
    const { programs, launched } = testPrograms('osascript', 'ssh', iterm)
    await openSystemTerminal({ programs, platform: 'darwin' }, id, command)
    const args = launched[0]?.slice(1) ?? []
    expect(args.at(-1)).toBe(`/bin/ssh -o 'A="b c;d"' -- root@h`)
    expect(args.slice(0, -1).join(' ')).not.toContain('root@h')
    expect(args[0]).toBe('-e')
  })

  test('Ghostty gets a list, and is found where it is installed', async () => {
    const { programs, launched } = testPrograms('osascript', 'open', 'ssh', ghostty)
    expect((await findTerminals(programs, 'darwin')).map(({ id }) => id)).toEqual(['terminal', 'ghostty'])
    await openSystemTerminal({ programs, platform: 'darwin' }, 'ghostty', command)
    expect(launched[0]?.slice(1)).toEqual(['-na', 'Ghostty', '--args', '-e', '/bin/ssh', ...rest])
  })
})

test.each([
  ['execution error: Not authorized to send Apple events to Terminal. (-1743)', /System Settings/],
  ['execution error: Application isn’t running. (-600)', /Berth’s own window/],
])('shows macOS’s own error: %s', async (said, advice) => {
  const { programs } = testPrograms('osascript', 'ssh')
  let waited: boolean | undefined
  programs.launch = async (_program, _args, how) => {
    waited = how?.untilEnd
    throw new Error(said)
  }
  const opening = openSystemTerminal({ programs, platform: 'darwin' }, 'terminal', command)
  await expect(opening).rejects.toMatchObject({
    problem: {
      code: 'terminal_refused',
      message: `Terminal did not open: ${said}`,
      advice: expect.stringMatching(advice),
    },
  })
  expect(waited).toBe(true)
})

describe('on Windows', () => {
  test('Windows Terminal gets a list with escaped semicolons', async () => {
    const { programs, launched } = testPrograms('wt.exe', 'ssh')
    await openSystemTerminal({ programs, platform: 'win32' }, '', command)
    expect(launched[0]?.slice(1)).toEqual(['new-tab', '--', '/bin/ssh', '-o', 'A="b c\\;d"', '--', 'root@h'])
  })

  test('the console runs ssh itself, without a shell', async () => {
    const { programs, launched } = testPrograms('conhost.exe')
    await openSystemTerminal({ programs, platform: 'win32' }, 'cmd', command)
    expect(launched).toEqual([['/bin/conhost.exe', ...command]])
  })
})

test('a missing or unknown terminal program gives no_terminal', async () => {
  const { programs } = testPrograms('kitty')
  const none = openSystemTerminal({ programs: testPrograms().programs, platform: 'linux' }, '', command)
  await expect(none).rejects.toMatchObject({ problem: { code: 'no_terminal' } })
  const other = openSystemTerminal({ programs, platform: 'linux' }, '/tmp/evil', command)
  await expect(other).rejects.toMatchObject({ problem: { code: 'no_terminal' } })
})

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
  const { programs, launched } = testPrograms('my-term', 'ssh')
  await openOwnTerminal(programs, ['my-term', '-e', '{ssh}'], ['ssh', '-p', '1'], address)
  expect(launched).toEqual([['/bin/my-term', '-e', '/bin/ssh', '-p', '1']])
  await expect(openOwnTerminal(programs, ['gone'], ['ssh'], address)).rejects.toMatchObject({
    problem: { code: 'no_terminal' },
  })
})
