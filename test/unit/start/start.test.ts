import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import type { RunningBerth } from '#core/running.ts'
import { deferred } from '#platform/tasks.ts'
import { FlagError, linkAmong, ownArguments, readFlags } from '#start/flags.ts'
import { berthToCome, Shutdown } from '#start/shutdown.ts'

/** A Berth that arrives when the test says so, and what has reached it. */
function starting() {
  const there = deferred<Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>>()
  const reached: unknown[] = []
  const running: Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'> = {
    connectPage(send) {
      send({ kind: 'answer', call: 1, answer: 'here' })
      return {
        receive: message => void reached.push(message),
        drained: () => void reached.push('drained'),
        isBusy: () => false,
        close: () => void reached.push('closed'),
      }
    },
    sshArguments: async ({ instance }) => ['ssh', String(instance)],
    registerProject: async folder => folder,
  }
  return {
    berth: berthToCome(there.promise),
    reached,
    arrive: () => there.resolve(running),
    fail: there.reject,
  }
}

test('messages of a page from before Berth has started arrive later, in order', async () => {
  const { berth, reached, arrive } = starting()
  const sent: unknown[] = []
  const link = berth.connectPage(message => sent.push(message) > 0)
  link.receive({ kind: 'sync' })
  link.receive({ kind: 'command' })
  link.drained()
  link.close()
  await Promise.resolve()
  expect({ reached, sent }).toEqual({ reached: [], sent: [] })
  arrive()
  expect(await berth.sshArguments({ instance: 7, opens: true })).toEqual(['ssh', '7'])
  expect(reached).toEqual([{ kind: 'sync' }, { kind: 'command' }, 'drained', 'closed'])
  expect(sent).toEqual([{ kind: 'answer', call: 1, answer: 'here' }])
})

test('a failed start rejects pending calls, and a waiting page does no harm', async () => {
  const { berth, reached, fail } = starting()
  const link = berth.connectPage(() => true)
  link.receive({ kind: 'sync' })
  const asked = berth.registerProject('/home/you/project')
  fail(new Error('the disk is full'))
  await expect(asked).rejects.toThrow('the disk is full')
  link.close()
  await new Promise(resolve => setImmediate(resolve))
  expect(reached).toEqual([])
})

/** The exit code and signal of a process that ends while a native call of that age, in milliseconds, is under way. */
async function endsWith(call: string, age = 0): Promise<unknown> {
  const script = `
    import { Shutdown } from '#start/shutdown.ts'
    const shutdown = new Shutdown(1000)
    void shutdown.nativeCalls.make(() => ${call})
    const now = performance.now.bind(performance)
    performance.now = () => now() + ${age}
    await shutdown.exit(() => process.exit(0))`
  const words = ['--import', 'tsx', '--input-type=module', '-e', script]
  return once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit')
}

test.concurrent('a native call that returns lets the process end in order', async () => {
  expect(await endsWith('new Promise(resolve => setImmediate(resolve))')).toEqual([0, null])
})

test.concurrent('a native call that a busy computer answers late lets the process end in order', async () => {
  expect(await endsWith('new Promise(resolve => setTimeout(resolve, 1500))')).toEqual([0, null])
})

test.concurrent('a native call that never returns does not hold the end', async () => {
  expect(await endsWith('new Promise(() => undefined)', 60_000)).toEqual([null, 'SIGKILL'])
})

test('no native call begins while the process exits: Electron would abort where it returns', async () => {
  const shutdown = new Shutdown(1000)
  const call = vi.fn(async () => 'a secret')
  expect(await shutdown.nativeCalls.make(call)).toBe('a secret')
  await shutdown.exit(() => undefined)
  await expect(shutdown.nativeCalls.make(call)).rejects.toThrow('Berth is ending')
  expect(call).toHaveBeenCalledTimes(1)
})

test('without flags the window opens on any port, with a demo speed of 20', () => {
  expect(readFlags([])).toEqual({
    browser: false,
    port: 0,
    open: true,
    demo: false,
    hidden: false,
    speed: 20,
  })
})

test('a link from the desktop is found at any position', () => {
  const link = 'berth://instance/4711'
  expect(readFlags([link, '--hidden'])).toMatchObject({ link, hidden: true })
  expect(linkAmong(['/opt/Berth/berth', '--no-sandbox', link])).toBe(link)
  expect(linkAmong(['--demo'])).toBeUndefined()
})

test('every flag is read', () => {
  const flags = readFlags(['--browser', '--port', '4711', '--no-open', '--demo', '--speed=2.5'])
  expect(flags).toEqual({ browser: true, port: 4711, open: false, demo: true, hidden: false, speed: 2.5 })
})

test.each([
  ['--colour'],
  ['--port', 'abc'],
  ['--port', '70000'],
  ['--port', '1.5'],
  ['--port', ''],
  ['--port'],
  ['--speed', '0'],
  ['--speed', '-1'],
  ['--speed', 'NaN'],
  ['extra'],
])('%j %j is refused by name', (...args) => {
  expect(() => readFlags(args)).toThrow(FlagError)
  expect(() => readFlags(args)).toThrow(new RegExp(args[0] === 'extra' ? 'extra' : `${args[0]}`))
})

test('ports from 20000 to 29999 are refused, since they are for pages of instances', () => {
  const port = (number: number) => readFlags(['--port', String(number)]).port
  for (const one of [20_000, 25_000, 29_999]) expect(() => port(one)).toThrow(/are for pages of instances/)
  expect([0, 19_999, 30_000].map(port)).toEqual([0, 19_999, 30_000])
})

test('only Berth’s own flags are kept of Electron’s and the desktop’s arguments', () => {
  const given = [
    '.',
    '--no-sandbox',
    '--demo',
    '--speed',
    '60',
    'berth://instance/1',
    '--port=7',
    '--type=gpu',
  ]
  expect(ownArguments(given)).toEqual(['--demo', '--speed', '60', '--port=7'])
})
