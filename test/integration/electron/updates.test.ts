import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MainMessage } from '../../../electron/contract/bridge/messages.ts'
import type { State } from '../../../electron/contract/state.ts'
import { startUnderDouble, type UnderDouble } from '../../electron/start-under-double.ts'
import { type Publisher, startPublisher } from './publisher.ts'

let folder: string
let publisher: Publisher
let berth: UnderDouble
const appImage = () => join(folder, 'Berth.AppImage')

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-updates-'))
  await mkdir(join(folder, 'resources'))
  await writeFile(appImage(), 'the old one')
  publisher = await startPublisher()
})
afterEach(async () => {
  berth.kill()
  publisher.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

/** Publishes a version: a program that writes a file when it is started. */
function offer(version: string, digest?: string): void {
  const program = `#!/bin/sh\necho ${version} > ${join(folder, 'started')}\n# ${'x'.repeat(300_000)}\n`
  publisher.offer(version, Buffer.from(program), digest)
}

async function start(config?: string): Promise<void> {
  if (config !== undefined) await writeFile(join(folder, 'resources/app-update.yml'), config)
  berth = await startUnderDouble({
    ...process.env,
    BERTH_HOME: join(folder, 'home'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    TMPDIR: folder,
    APPIMAGE: appImage(),
    BERTH_DOUBLE_RESOURCES: join(folder, 'resources'),
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  })
  await expect.poll(() => berth.ask('windows'), { timeout: 45_000 }).toMatchObject([{ visible: true }])
}

const messages = async () =>
  ((await berth.ask('sent')) as [string, MainMessage][]).map(([, message]) => message)

let call = 0
async function command(name: string): Promise<MainMessage> {
  const mine = ++call
  await berth.ask('post', { kind: 'command', call: mine, name, args: {} })
  const mineOf = (all: MainMessage[]) => all.find(message => 'call' in message && message.call === mine)
  await expect.poll(async () => mineOf(await messages()), { timeout: 45_000 }).toBeDefined()
  return mineOf(await messages()) ?? expect.fail('no answer')
}

async function update(): Promise<State['update']> {
  const before = (await messages()).length
  await berth.ask('post', { kind: 'sync' })
  const whole = async () => (await messages()).slice(before).find(message => message.kind === 'state')
  await expect.poll(whole).toBeDefined()
  const found = await whole()
  return found?.kind === 'state' ? found.state.update : undefined
}

test('a package without an update address asks nobody and says so', async () => {
  offer('9.9.9')
  await start()
  expect(await update()).toBeUndefined()
  expect(await command('checkForUpdate')).toMatchObject({ kind: 'refusal', problem: { code: 'no_updates' } })
  expect(publisher.asked).toEqual([])
})

test('an address that is neither https nor loopback is as none', async () => {
  await start('provider: generic\nurl: http://updates.example/berth\n')
  expect(await update()).toBeUndefined()
  expect(await command('checkForUpdate')).toMatchObject({ kind: 'refusal', problem: { code: 'no_updates' } })
  const log = await readFile(join(folder, 'home/logs/berth.log'), 'utf8')
  expect(log).toContain('neither https nor loopback')
})

test('an update is found, fetched and installed, each only when the user says so', async () => {
  offer('9.9.9')
  await start(publisher.config)
  expect(await update()).toEqual({ status: 'none' })
  expect(publisher.asked, 'nothing at the start').toEqual([])

  expect(await command('installUpdate')).toMatchObject({
    kind: 'refusal',
    problem: { code: 'update_not_fetched' },
  })
  expect(await command('checkForUpdate')).toMatchObject({ kind: 'answer' })
  expect(await update()).toEqual({ status: 'available', version: '9.9.9' })
  expect(publisher.asked.map(({ path }) => path)).toEqual(['/latest-linux.yml'])
  const told = JSON.stringify(publisher.asked)
  expect(told, 'nothing that tells one installation from another').not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)

  expect(await command('fetchUpdate')).toMatchObject({ kind: 'answer' })
  expect(await update()).toEqual({ status: 'ready', version: '9.9.9' })
  expect(await readFile(appImage(), 'utf8')).toBe('the old one')

  void command('installUpdate').catch(() => undefined)
  expect(await berth.ended).toBe(0)
  const started = () => readFile(join(folder, 'started'), 'utf8').catch(() => '')
  await expect.poll(started, { timeout: 45_000 }).toBe('9.9.9\n')
  expect(await readFile(appImage(), 'utf8')).toContain('echo 9.9.9')
})

test('an update whose digest is wrong is not taken', async () => {
  offer('9.9.9', createHash('sha512').update('another').digest('base64'))
  await start(publisher.config)
  await command('checkForUpdate')
  expect(await command('fetchUpdate')).toMatchObject({ kind: 'refusal', problem: { code: 'update_failed' } })
  expect(await update()).toMatchObject({ status: 'failed', problem: { code: 'update_failed' } })
  expect(await readFile(join(folder, 'home/logs/berth.log'), 'utf8')).toMatch(/sha512/i)
  expect(await command('installUpdate')).toMatchObject({
    kind: 'refusal',
    problem: { code: 'update_not_fetched' },
  })
})

test('a version that is not newer is no update', async () => {
  offer('0.0.0')
  await start(publisher.config)
  await command('checkForUpdate')
  expect(await update()).toEqual({ status: 'none', at: expect.any(Number) })
})
