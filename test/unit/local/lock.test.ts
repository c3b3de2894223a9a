import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlreadyRunningError, lockFolder } from '../../../electron/local/start/lock.ts'

const lockModule = JSON.stringify(new URL('../../../electron/local/start/lock.ts', import.meta.url).href)

let folder = ''
let path = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-lock-'))
  path = join(folder, 'lock')
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

/** A process that holds the lock until it is told to end. */
async function holder() {
  const script = `
    import { lockFolder } from ${lockModule}
    await lockFolder(${JSON.stringify(path)}, 0)
    process.stdout.write('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

/** A process that tries to get the locks it is told of, and keeps those it gets, unless it had time to wait. */
async function rival() {
  const script = `
    import { createInterface } from 'node:readline'
    import { lockFolder } from ${lockModule}
    for await (const line of createInterface({ input: process.stdin })) {
      const [path, patience] = JSON.parse(line)
      const got = await lockFolder(path, patience).then(unlock => (patience > 0 ? unlock() : undefined)).then(() => 'held', error => error.code === 'already_running' ? 'refused' : String(error))
      process.stdout.write(got + '\\n')
    }`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const tries = async (at: string, patience: number): Promise<string> => {
    child.stdin.write(`${JSON.stringify([at, patience])}\n`)
    return (await answers.next()).value
  }
  // Its modules are there before it competes.
  expect(await tries(`${path}-of-${child.pid}`, 0)).toBe('held')
  const exited = once(child, 'exit')
  const end = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { tries, end }
}

test('while another process holds it, it is not given, and that process is named', async () => {
  const child = await holder()
  try {
    await expect(lockFolder(path, 200)).rejects.toThrow(AlreadyRunningError)
    await expect(lockFolder(path, 0)).rejects.toMatchObject({ pid: child.pid })
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

test('a holder that was killed does not keep it, and one that ends in time is waited for', async () => {
  const child = await holder()
  const waiting = lockFolder(path, 10_000)
  child.kill('SIGKILL')
  const unlock = await waiting
  await unlock()
  const again = await lockFolder(path, 0)
  await again()
})

test('a process with the number of one that is gone is not taken for it', async () => {
  await writeFile(`${path}-${process.ppid}-1`, '')
  const unlock = await lockFolder(path, 0)
  await unlock()
  expect(await readdir(folder)).toEqual([])
})

test.each(['', 'rubbish', '-1-5', '0-0'])('a file that is named after %j holds nothing', async name => {
  await writeFile(`${path}-${name}`, '')
  const unlock = await lockFolder(path, 0)
  await unlock()
})

test('of several that start at once after a kill, never two have it, and each gets it in the end', async () => {
  const killed = await holder()
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  const left = await readdir(folder)
  const rivals = await Promise.all([rival(), rival(), rival()])
  try {
    const start = async (round: number, patience: number) => {
      const at = join(folder, `round-${round}`)
      await mkdir(at)
      await Promise.all(left.map(name => copyFile(join(folder, name), join(at, name))))
      return Promise.all(rivals.map(({ tries }) => tries(join(at, 'lock'), patience)))
    }
    for (let round = 0; round < 40; round += 1)
      expect((await start(round, 0)).filter(got => got !== 'refused').length).toBeLessThan(2)
    // With time enough, each has it in turn.
    expect(await start(40, 60_000)).toEqual(['held', 'held', 'held'])
  } finally {
    for (const { end } of rivals) await end()
  }
})
