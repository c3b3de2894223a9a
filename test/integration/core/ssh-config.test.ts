import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openFiles } from '#platform/files.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test as base } from '#test/berth/world.ts'

const run = promisify(execFile)
/** A world with a folder `.ssh`, the user's SSH config there, Berth's own, and the system's ssh with the former. */
const test = base.extend('machine', async ({ openWorld }) => {
  const world = await openWorld()
  const config = join(world.platform.home, '.ssh', 'config')
  mkdirSync(join(world.platform.home, '.ssh'), { mode: 0o700 })
  const path = world.platform.files.path('ssh/config')
  return {
    world,
    config,
    own: () => (existsSync(path) ? readFileSync(path, 'utf8') : ''),
    ssh: (...args: string[]) => run('ssh', ['-F', config, '-o', 'BatchMode=yes', ...args]),
  }
})

test.concurrent('with the setting on, the system’s ssh enters every current instance', async ({
  machine,
  expect,
}) => {
  const { world, config, own, ssh } = machine
  writeFileSync(config, 'Host work\n  User me')
  const under = await world.startConnected()
  const { id } = await rentRunning(under, { label: 'first one' })
  expect(own()).toBe('')
  await under.run('changeSettings', { settings: { sshConfig: true } })
  expect(under.berth.state().settings.sshConfig).toBe(true)
  await expect.poll(() => ssh(`berth-${id}`, 'echo in').then(({ stdout }) => stdout, String)).toBe('in\n')
  expect((await ssh('berth-first-one', 'echo in')).stdout).toBe('in\n')

  await under.run('renameInstance', { instance: id, label: 'second' })
  await expect.poll(own).toContain(`Host berth-${id} berth-second\n`)
  const other = await rentRunning(under, { label: 'another' })
  await expect.poll(own).toContain(`Host berth-${other.id} berth-another\n`)
  await under.run('destroyInstance', { instance: id })
  await expect.poll(own).not.toContain(`berth-${id}`)

  await under.run('changeSettings', { settings: { sshConfig: false } })
  expect(readFileSync(config, 'utf8')).toBe('Host work\n  User me')
  expect(own()).toBe('')
})

test.concurrent('an Include line removed by hand stays out, is reported, and returns on request', async ({
  machine,
  expect,
}) => {
  const { world, config, own } = machine
  const under = await world.startConnected()
  const { id } = await rentRunning(under)
  expect(await codeOf(under.run('includeSshConfig', {}))).toBe('ssh_config_off')
  await under.run('changeSettings', { settings: { sshConfig: true } })
  expect(await under.run('sshConfigIncluded', {})).toBe(true)
  const line = readFileSync(config, 'utf8')
  writeFileSync(config, 'Host work\n  User me\n')
  expect(await under.run('sshConfigIncluded', {})).toBe(false)
  expect(await codeOf(under.run('openEditor', { instance: id }))).toBe('ssh_config_line_gone')
  await under.run('renameInstance', { instance: id, label: 'second' })
  await expect.poll(own).toContain('berth-second')
  const told = () => under.run('searchActivity', { text: 'Include line', limit: 10 })
  await expect.poll(async () => (await told()).length).toBe(1)
  expect(readFileSync(config, 'utf8')).toBe('Host work\n  User me\n')

  await under.run('includeSshConfig', {})
  expect(await under.run('sshConfigIncluded', {})).toBe(true)
  expect(readFileSync(config, 'utf8')).toBe(`${line}Host work\n  User me\n`)
  await under.run('changeSettings', { settings: { sshConfig: false } })
  expect(readFileSync(config, 'utf8')).toBe('Host work\n  User me\n')
})

test.concurrent('an instance renamed while the setting is turned off does not restore the file', async ({
  machine,
  expect,
}) => {
  const { world, own } = machine
  const under = await world.startConnected()
  const { id } = await rentRunning(under)
  await under.run('changeSettings', { settings: { sshConfig: true } })
  await expect.poll(own).toContain(`Host berth-${id}`)
  const { files } = world.platform
  const remove = files.delete.bind(files)
  files.delete = async name => {
    await remove(name)
    if (name === 'ssh/config') await under.run('renameInstance', { instance: id, label: 'second' })
  }
  await under.run('changeSettings', { settings: { sshConfig: false } })
  // Closing waits for pending writes.
  await under.close()
  expect(own()).toBe('')
})

test.concurrent('a setting whose SSH config cannot be written is not saved', async ({ machine, expect }) => {
  const { world, config } = machine
  mkdirSync(config)
  const under = await world.startConnected()
  const turned = under.run('changeSettings', { settings: { sshConfig: true, editor: 'zed' } })
  expect(await codeOf(turned)).toBe('ssh_config_not_written')
  expect(under.berth.state().settings).toMatchObject({ sshConfig: false, editor: '' })
})

test.concurrent('the demo’s instances are in the SSH config while the demo runs', async ({
  machine,
  expect,
}) => {
  const { world, own, ssh } = machine
  const files = openFiles(join(world.platform.home, 'demo'))
  const { baseUrl, apiKey } = world.sim
  const controls = {
    setCredit: () => undefined,
    outbid: () => undefined,
    forceStatus: () => undefined,
    advance: () => undefined,
    outbox: () => [],
  }
  const start = async () => ({ baseUrl, key: apiKey, controls })
  const under = await world.start({ demo: { atStart: true, speed: 60, files, start } })
  await under.until(() => under.account().connection.status === 'online')
  const { id } = await rentRunning(under)
  await under.run('changeSettings', { settings: { sshConfig: true } })
  await expect.poll(() => ssh(`berth-${id}`, 'echo in').then(({ stdout }) => stdout, String)).toBe('in\n')
  await under.close()
  expect(own()).toContain('Written by Berth')
  expect(own()).not.toContain(`berth-${id}`)
})
