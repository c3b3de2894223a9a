import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { BerthConnection } from '#cli/connection.ts'
import { reachBerth } from '#cli/reach.ts'
import { startSimulatorProcess } from '#test/berth/browser.ts'
import { rentRunning } from '#test/e2e/account-steps.ts'
import { plainRun } from '#test/integration/core/automation/run-steps.ts'
import { startKeyring } from '#test/integration/platform/keyring.ts'
import { type Endings, openSession, x11 } from './session.ts'

/** Two debs of Berth, the earlier version first, which may be installed here; without them there is nothing to prove. */
const [before, now] = (process.env['BERTH_DEBS'] ?? '').split(':')
const entry = '/usr/share/applications/berth.desktop'

const endings: Endings = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

function apt(...args: string[]): string {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return execFileSync('apt-get', ['-qq', '-y', '--no-install-recommends', ...args], { env, encoding: 'utf8' })
}

/** The installed version. */
function version(): string {
  return execFileSync('dpkg-query', ['--show', `--showformat=\${Version}`, 'berth'], { encoding: 'utf8' })
}

/** What is left of Berth in the folders of the system. */
function traces(): string {
  const places = ['/opt', '/usr', '/etc', '/var/lib']
  const args = [...places, '-xdev', '-iname', '*berth*', '-not', '-path', '*/node_modules/*']
  return execFileSync('find', args, { encoding: 'utf8' })
}

test.runIf(now)('a deb lives from its installation over an upgrade to its removal', async () => {
  const { session } = await openSession(endings, x11)
  await startKeyring(session, 'password')
  const sim = await startSimulatorProcess()
  endings.push(() => sim.stop())
  endings.push(() => execFileSync('dpkg', ['--purge', 'berth'], { stdio: 'ignore' }))
  const home = join(session.home, '.config/berth')
  const windows = async () => (await session.run('wmctrl', ['-l'])).output

  /** Waits until a Berth in that session answers. */
  async function answering(): Promise<BerthConnection> {
    let found: BerthConnection | undefined
    const look = async () => {
      found = await reachBerth(home, undefined).catch(() => undefined)
      return found !== undefined
    }
    await expect.poll(look).toBe(true)
    return found ?? expect.fail('no Berth answers')
  }
  async function quit(berth: BerthConnection): Promise<void> {
    await berth.local('quit', {}).catch(() => undefined)
    await expect
      .poll(() =>
        reachBerth(home, undefined).then(
          () => true,
          () => false,
        ),
      )
      .toBe(false)
  }
  // Not until its output ends, which is that of the Berth it starts.
  const open = async (...args: string[]) =>
    expect(await once(session.start('gio', args), 'exit'), args.join(' ')).toEqual([0, null])

  const untouched = traces()
  apt('install', String(before))
  expect(await readlink('/etc/alternatives/berth')).toBe('/opt/Berth/berth')
  // The sandbox works by user namespaces, or by a program that is root's.
  const namespaces = (await session.run('unshare', ['--user', 'true'])).code === 0
  expect((await stat('/opt/Berth/chrome-sandbox')).mode & 0o7777).toBe(namespaces ? 0o755 : 0o4755)
  expect(existsSync('/opt/Berth/resources/apparmor-profile')).toBe(true)

  await open('launch', entry)
  const first = await answering()
  await expect.poll(windows).toContain('Berth')
  const instance = await rentRunning(sim)
  await first.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  const accountOf = async (berth: BerthConnection) =>
    Object.values((await berth.state()).accounts)[0] ?? expect.fail('no account')
  await expect.poll(async () => (await accountOf(first)).instances[instance]?.state).toBe('running')
  const account = (await accountOf(first)).id
  const limit = { when: { kind: 'duration', seconds: 1_000_000 }, action: 'stop', asleep: false } as const
  await first.command('setLimit', { account, instance, ...limit, warning: 0, missed: 'act' })
  const request = { ...plainRun, name: 'train', instance, command: 'sleep 100000' }
  const run = String(await first.command('startRun', { account, request }))
  await expect.poll(async () => (await accountOf(first)).runs[run]?.step).toBe('running')

  await open('open', 'berth://settings')
  await expect.poll(windows).toContain('Settings')
  await first.command('changeSettings', { settings: { startAtLogin: 'tray' } })

  // As when a system updates itself while Berth runs: the old one goes on, and the next start is the new one.
  const old = version()
  apt('install', String(now))
  expect(await accountOf(first)).toMatchObject({ id: account })
  await quit(first)
  await open('launch', join(session.home, '.config/autostart/berth.desktop'))
  const second = await answering()
  expect(version()).not.toBe(old)
  expect(Object.values((await accountOf(second)).limits)).toHaveLength(1)
  await expect.poll(async () => (await accountOf(second)).connection.status).toBe('online')
  await expect.poll(async () => (await accountOf(second)).runs[run]?.step).toBe('running')
  expect(await windows(), 'started in the tray').not.toContain('Berth')
  await quit(second)

  // A link starts it.
  await open('open', 'berth://settings')
  const third = await answering()
  await expect.poll(windows).toContain('Settings')
  await third.command('leaveDesktop', {})
  await quit(third)

  apt('purge', 'berth')
  expect(traces()).toBe(untouched)
  const list = await readFile('/var/lib/dpkg/status', 'utf8')
  expect(list).not.toContain('\nPackage: berth\n')
  // What docs/uninstall.md names is in Berth's folder and the keychain.
  const search = ['-rlI', '--exclude-dir=berth', 'berth', '.config', '.local']
  const left = execFileSync('sh', ['-c', 'grep "$@" || true', 'sh', ...search], {
    cwd: session.home,
    encoding: 'utf8',
  })
  expect(left).toBe('')
})
