import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { userCommandFile } from '#platform/command-file.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { rentRunning, requestCheapest, setLimit } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

/** Puts a pipe that nobody writes to in the place of a file: whoever reads it waits for ever. */
function pipe(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  execFileSync('mkfifo', [path])
}

test('a due limit acts while the keychain never answers and strangers’ files are pipes', async ({
  openWorld,
}) => {
  const world = await openWorld()
  const { home } = world.platform
  for (const name of ['config', 'known_hosts', 'id_ed25519', 'id_rsa.pub', 'pipe', 'other'])
    pipe(join(home, '.ssh', name))
  pipe(join(home, '.local/bin/berth'))
  const command = userCommandFile({ platform: 'linux', env: {}, home, command: ['berth'] })
  world.platform.commandFile = command
  const folder = join(home, 'code')
  for (const name of ['.gitignore', 'berth.yaml', '.git/config', '.git/HEAD', '.git/info/exclude', 'data'])
    pipe(join(folder, name))
  writeFileSync(join(folder, 'train.py'), '')
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  const { id } = await rentRunning(under)
  await setLimit(under, { instance: id, when: { kind: 'duration', seconds: 3600 } })

  const never = () => new Promise<never>(() => undefined)
  Object.assign(world.keychain, { get: never, set: never, delete: never })
  const request = await requestCheapest(under)
  const hanging: Promise<unknown>[] = [
    under.run('sshKeys', {}),
    under.run('includeSshConfig', {}),
    under.run('sshConfigIncluded', {}),
    command?.isThere() ?? Promise.resolve(),
    command?.write() ?? Promise.resolve(),
    under.run('generateKey', { name: 'other' }),
    under.run('unlockKey', { key: 'id_ed25519', passphrase: 'x', keep: true }),
    under.run('rent', { request: { ...request, env: [{ name: 'TOKEN', value: 'x', secret: true }] } }),
    under.run('addProject', {}).then(project => under.run('planProject', { project: project ?? '' })),
  ]
  for (const one of hanging) one.catch(() => undefined)
  await wait(100)
  await world.sim.controls.advance(3700)
  await under.run('refresh', {})
  await under.until(() => under.account().instances[id]?.state === 'stopped')
  // What reads files only has long been answered.
  expect((await under.run('sshKeys', {})).map(({ from }) => from)).not.toContain('user')
  await Promise.allSettled(hanging.slice(0, 5))
})
