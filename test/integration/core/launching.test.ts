import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { systemPrograms } from '#platform/programs.ts'
import { findTerminals } from '#ssh/shell/system-terminal.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test as base } from '#test/berth/world.ts'

/** Writes its arguments to a file beside itself, separated by NUL. */
const standIn = `#!/bin/sh
printf '%s\\0' "$@" > "$0.part" && /bin/mv "$0.part" "$0.args"
`
const editors = ['code', 'cursor', 'windsurf', 'zed', 'gateway']
const terminals = [
  'xdg-terminal-exec',
  'x-terminal-emulator',
  'gnome-terminal',
  'ptyxis',
  'kgx',
  'konsole',
  'xfce4-terminal',
  'kitty',
  'alacritty',
  'wezterm',
  'ghostty',
  'foot',
  'xterm',
]

/** A world whose PATH is one folder, and what puts stand-ins there and reads the arguments of one that was started. */
const test = base.extend('path', async ({ openWorld }) => {
  const world = await openWorld()
  const bin = join(world.platform.home, 'pro grams')
  await mkdir(bin)
  world.platform.programs = systemPrograms({ ...process.env, PATH: bin }, 'linux')
  return {
    world,
    bin,
    async install(...names: string[]): Promise<void> {
      for (const name of names) {
        await writeFile(join(bin, name), standIn)
        await chmod(join(bin, name), 0o755)
      }
    },
    async argumentsOf(name: string): Promise<string[]> {
      const file = join(bin, `${name}.args`)
      await vi.waitUntil(() => existsSync(file), 150_000)
      return (await readFile(file, 'utf8')).split('\0').slice(0, -1)
    },
  }
})

test.concurrent('each editor on the PATH is found and started on the instance’s SSH name', async ({
  path,
  expect,
}) => {
  const { world, bin, install, argumentsOf } = path
  await install(...editors)
  // It is not executable.
  await writeFile(join(bin, 'zeditor'), standIn)
  const under = await world.startConnected()
  expect(under.berth.state().app.editors.map(({ id }) => id)).toEqual(editors)
  const { id } = await rentRunning(under, { label: '$(touch evil); x' })
  expect(await codeOf(under.run('openEditor', { instance: id }))).toBe('ssh_config_off')
  const command = await under.run('sshCommand', { instance: id })
  expect(command).toMatch(/^ssh -F none .* root@/)
  expect(command).toContain(` -i ${await under.run('sshKeyFile', { instance: id })} `)
  await under.run('changeSettings', { settings: { sshConfig: true } })
  expect(await under.run('sshCommand', { instance: id })).toBe(`ssh berth-${id}`)
  expect(await codeOf(under.run('openEditor', { instance: id, editor: '/bin/sh' }))).toBe('no_editor')
  for (const editor of editors) await under.run('openEditor', { instance: id, editor })
  const remote = ['--new-window', '--remote', `ssh-remote+berth-${id}`]
  expect(await argumentsOf('code')).toEqual(remote)
  expect(await argumentsOf('cursor')).toEqual(remote)
  expect(await argumentsOf('windsurf')).toEqual(remote)
  expect(await argumentsOf('zed')).toEqual(['--new', `ssh://berth-${id}/root`])
  expect(await argumentsOf('gateway')).toEqual([
    `jetbrains-gateway://connect#type=ssh&deploy=true&host=berth-${id}&user=root&projectPath=%2Froot`,
  ])
  expect(existsSync(join(bin, 'zeditor.args'))).toBe(false)
})

test.concurrent('each terminal on the PATH is found and started with ssh and its arguments', async ({
  path,
  expect,
}) => {
  const { world, bin, install, argumentsOf } = path
  await install(...terminals, 'ssh')
  const found = await findTerminals(world.platform.programs, 'linux')
  expect(found.map(({ id }) => id)).toEqual(terminals)
  const under = await world.startConnected()
  const { id } = await rentRunning(under)
  for (const program of terminals) {
    const { command: _own, ...terminal } = under.berth.state().settings.terminal
    await under.run('changeSettings', { settings: { terminal: { ...terminal, program } } })
    await under.run('openSystemTerminal', { instance: id })
    const args = await argumentsOf(program)
    const at = args.indexOf(join(bin, 'ssh'))
    expect(args.slice(0, at).join(' '), program).toMatch(/^(-e|--|-x|start --|--new-window --)?$/)
    expect(args.slice(at + 1), program).toEqual([
      ...['-F', 'none', '-i'],
      world.platform.files.path(`accounts/${under.account().id}/id_ed25519`),
      ...[
        'IdentitiesOnly=yes',
        'PreferredAuthentications=publickey',
        expect.stringMatching(new RegExp(`^HostKeyAlias=berth-\\w+-${id}$`)),
        `UserKnownHostsFile="${world.platform.files.path('known_hosts')}"`,
        'StrictHostKeyChecking=accept-new',
        'HashKnownHosts=no',
        'ForwardAgent=no',
        'ForwardX11=no',
      ].flatMap(option => ['-o', option]),
      '-p',
      expect.stringMatching(/^\d+$/),
      '--',
      'root@127.0.0.1',
    ])
  }
})

test.concurrent('a program on a relative entry of the PATH is not found', async ({ path, expect }) => {
  const { world, bin, install } = path
  await install('code')
  const relative = systemPrograms({ PATH: `.:${bin.slice(1)}:` }, 'linux')
  expect(await relative.find('code')).toBeUndefined()
  expect(await relative.find('../code')).toBeUndefined()
  expect(await world.platform.programs.find('code')).toBe(join(bin, 'code'))
})
