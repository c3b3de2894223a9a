import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, offerTray, command, ask } = berth
let sim: Simulator | undefined
afterEach(async () => {
  await sim?.close()
  sim = undefined
})

const home = () => join(berth.session.home, 'home')
/** Whether the lock of Berth's folder is gone, which Berth releases last. */
const hasEndedInOrder = async () => (await readdir(home())).every(name => !name.startsWith('lock-'))
const ended = () => berth.process.ended

/** Connects an account that is not the demo and rents an instance, so that quitting asks. */
async function rentForReal(): Promise<void> {
  sim = await startSimulator({ port: 0, seed: 7, speed: 200, offers: 200, calm: true })
  await command('changeSettings', { settings: { pollInterval: 2 } })
  await command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  await berth.rentOne()
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends Berth in order and asks nobody',
  async signal => {
    await start()
    await rentForReal()
    berth.process.process.kill(signal)
    expect(await ended()).toBe(0)
    expect(await hasEndedInOrder()).toBe(true)
  },
  120_000,
)

test('a system that shuts down waits until Berth has ended', async () => {
  await start()
  await rentForReal()
  expect(await ask('systemShutsDown')).toBe(true)
  expect(await ended()).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
}, 120_000)

test('the end of a session on Windows ends Berth in order, though nobody is asked to quit', async () => {
  await offerTray()
  await start()
  await rentForReal()
  void ask('endSession').catch(() => undefined)
  expect(await ended()).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
}, 120_000)

test('an update on macOS closes the window that otherwise hides, whatever was typed in it, and ends Berth in order', async () => {
  await offerTray()
  await start()
  await rentForReal()
  await ask('typeInto')
  void ask('installUpdate').catch(() => undefined)
  expect(await ended()).toBe(0)
  expect(await hasEndedInOrder()).toBe(true)
}, 120_000)

test.each(['error', 'rejection'] as const)(
  'what nobody catches (%s) is logged, said, and ends Berth in order',
  async how => {
    const box = join(berth.session.home, 'box')
    berth.session.env['BERTH_DOUBLE_BOX'] = box
    await start()
    void ask('fail', how).catch(() => undefined)
    expect(await ended()).toBe(1)
    expect(await hasEndedInOrder()).toBe(true)
    expect(await readFile(box, 'utf8')).toMatch(/^Berth had to close\nSomething in Berth failed/)
    expect(await readFile(join(home(), 'logs/berth.log'), 'utf8')).toContain('uncaughtException: Error')
  },
)
