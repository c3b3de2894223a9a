import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { systemRandom } from '#platform/clock-and-random.ts'
import { openCommandSocket } from '#start/command-socket.ts'
import { isAlive as isProcessAlive, startOf } from '#start/home.ts'
import { berthOn } from './cli.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-cli-'))
})

const isAlive = async (pid: number) => isProcessAlive(pid, startOf(pid))

/** A home for a Berth that the command starts; that Berth ends with the test. */
function newHome(name = 'home') {
  const home = join(folder, name)
  onTestFinished(async () => {
    await expect.poll(() => endAll(home)).toEqual([])
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  })
  return { home, berth: berthOn(home) }
}

/** The live processes that hold the lock of that folder. */
async function pidsOf(home: string): Promise<number[]> {
  const names = await readdir(home).catch(() => [])
  const pids = names.flatMap(name => Number(/^lock-(\d+)-/.exec(name)?.[1]) || [])
  const alive = await Promise.all(pids.map(isAlive))
  return pids.filter((_, at) => alive[at])
}

/** Ends the processes that hold the lock or wait for it, found by their environment on Linux. */
async function endAll(home: string): Promise<number[]> {
  const waiting: number[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    const env = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
    if (env.split('\0').includes(`BERTH_HOME=${home}`)) waiting.push(Number(name))
  }
  const pids = [...new Set([...(await pidsOf(home)), ...waiting])]
  for (const pid of pids) process.kill(pid, 'SIGTERM')
  return pids
}

test('the command starts Berth where none runs, and that runs on until quit', async () => {
  const { home, berth } = newHome()
  expect(await berth('ps', '--no-start')).toMatchObject({ code: 3, out: '' })
  expect(await berth('quit')).toMatchObject({ code: 3 })
  expect(existsSync(home)).toBe(false)
  expect(await berth('ps', '--json')).toEqual({
    code: 0,
    out: expect.stringContaining('"instances": []'),
    err: expect.stringMatching(/^Started Berth in the background\. .*\nNo account is connected\./),
  })
  const [pid] = await pidsOf(home)
  const { code, err } = await berth('ps', '--no-start')
  expect([code, err]).toEqual([0, expect.not.stringContaining('background')])
  expect(await pidsOf(home)).toEqual([pid])
  expect(await berth('quit')).toEqual({ code: 0, out: '', err: '' })
  await expect.poll(() => pidsOf(home)).toEqual([])
  expect(await readdir(home)).not.toContain('berth.sock')
  // Accounts that can't be read may have machines that cost money.
  await writeFile(join(home, 'accounts.json'), '{"half')
  expect(await berth('ps')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/accounts\.json is damaged/),
  })
  expect(await berth('quit')).toMatchObject({ code: 0 })
})

test('several calls that start Berth at once are all answered by one Berth', async () => {
  const { home, berth } = newHome()
  const calls = await Promise.all([berth('ps'), berth('ps'), berth('ps')])
  expect(calls.map(({ code }) => code)).toEqual([0, 0, 0])
  await expect.poll(async () => (await pidsOf(home)).length).toBe(1)
})

test('the socket left by a killed Berth does not hinder the next one', async () => {
  const { home, berth } = newHome()
  await berth('ps')
  const [killed = 0] = await pidsOf(home)
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => isAlive(killed)).toBe(false)
  expect(await readdir(home)).toContain('berth.sock')
  expect(await berth('ps')).toMatchObject({ code: 0 })
  expect(await pidsOf(home)).not.toContain(killed)
})

test('an answering socket or a file at its path is not replaced', async () => {
  const { home, berth } = newHome()
  await mkdir(home, { mode: 0o700 })
  const path = join(home, 'berth.sock')
  const said: string[] = []
  const open = () =>
    openCommandSocket({
      home,
      berth: { connectPage: vi.fn(), sshArguments: vi.fn(), registerProject: vi.fn() },
      random: systemRandom,
      log: line => said.push(line),
      openPage: vi.fn(),
      quit: vi.fn(),
    })
  await writeFile(path, 'mine')
  await (await open())()
  expect(await readFile(path, 'utf8')).toBe('mine')
  await rm(path)
  const other = createServer(client => client.destroy())
  await new Promise<void>(resolve => other.listen(path, resolve))
  onTestFinished(() => void other.close())
  await (await open())()
  expect(existsSync(path)).toBe(true)
  expect(said).toEqual([
    expect.stringContaining('isn’t a socket'),
    expect.stringContaining('another program answers'),
  ])
  // That program does not speak Berth's protocol.
  expect(await berth('ps', '--no-start')).toMatchObject({ code: 3, err: expect.stringContaining('quit') })
})

test('a socket with too long a path moves to a private folder', async () => {
  const { home, berth } = newHome('a'.repeat(120))
  expect(await berth('ps')).toMatchObject({ code: 0 })
  const [address = ''] = (await readFile(join(home, 'socket-address'), 'utf8')).split('\n')
  expect(address).toMatch(/^\/tmp\/berth-\w+\/berth\.sock$/)
  expect(await berth('ps', '--no-start')).toMatchObject({ code: 0 })
  expect(await berth('quit')).toMatchObject({ code: 0 })
  await expect.poll(() => pidsOf(home)).toEqual([])
  expect(existsSync(join(address, '..'))).toBe(false)
})

test('a program at a killed Berth’s address gets only a challenge', async () => {
  const { home, berth } = newHome('a'.repeat(120))
  expect(await berth('ps')).toMatchObject({ code: 0 })
  const [killed = 0] = await pidsOf(home)
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => isAlive(killed)).toBe(false)
  const [address = ''] = (await readFile(join(home, 'socket-address'), 'utf8')).split('\n')
  await rm(address, { force: true })
  const asked: unknown[] = []
  const other = createServer(client =>
    client.on('data', line => {
      const { call, name } = JSON.parse(String(line))
      asked.push(name)
      client.write(`${JSON.stringify({ kind: 'answer', call, answer: 'a guess' })}\n`)
    }),
  )
  await new Promise<void>(resolve => other.listen(address, resolve))
  onTestFinished(() => void other.close())
  expect(await berth('ps', '--no-start')).toMatchObject({ code: 3, err: 'Berth isn’t running.\n' })
  expect(await berth('ssh', '1', '--no-start')).toMatchObject({ code: 3 })
  expect(asked).toEqual(['prove', 'prove'])
  expect(await berth('ps')).toMatchObject({ code: 0 })
})

test('a Berth that cannot start says why', async () => {
  const { home, berth } = newHome()
  await writeFile(home, 'no folder')
  expect(await berth('ps')).toMatchObject({ code: 3, err: expect.stringContaining(home) })
  await rm(home)
})
