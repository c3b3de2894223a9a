import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import { AlreadyRunningError, lockFolder, startOf } from '#start/home.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const lockModule = JSON.stringify(new URL('../../../electron/start/home.ts', import.meta.url).href)

let folder = ''
let path = ''

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'lock')
})

/** A process that holds the lock until it is killed. */
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

/** A process that tries for the locks it is given, and keeps them unless it may wait. */
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
  // Loads its modules before it competes.
  expect(await tries(`${path}-of-${child.pid}`, 0)).toBe('held')
  const exited = once(child, 'exit')
  const end = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { tries, end }
}

test('a lock held by another process is refused with its process id', async () => {
  const child = await holder()
  try {
    await expect(lockFolder(path, 200)).rejects.toThrow(AlreadyRunningError)
    await expect(lockFolder(path, 0)).rejects.toMatchObject({ pid: child.pid })
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

test('a waiting call gets the lock once its holder is killed', async () => {
  const child = await holder()
  const waiting = lockFolder(path, 10_000)
  child.kill('SIGKILL')
  const unlock = await waiting
  await unlock()
  const again = await lockFolder(path, 0)
  await again()
})

test('a dead process’s lock is free though its process id is in use again', async () => {
  await writeFile(`${path}-${process.ppid}-1`, '')
  const unlock = await lockFolder(path, 0)
  await unlock()
  expect(await readdir(folder)).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'a dead process’s lock is free though its parent never asks after it',
  async () => {
    const parent = spawn('sh', ['-c', 'sleep 60 >&- & echo $!; exec sleep 60 >&-'])
    const pid = Number(await text(parent.stdout))
    await writeFile(`${path}-${pid}-${startOf(pid)}`, '')
    await expect(lockFolder(path, 0)).rejects.toMatchObject({ pid })
    process.kill(pid, 'SIGKILL')
    const unlock = await lockFolder(path, 10_000)
    await unlock()
    parent.kill('SIGKILL')
  },
)

test.each(['', 'rubbish', '-1-5', '0-0'])('a lock file with the suffix %j holds nothing', async name => {
  await writeFile(`${path}-${name}`, '')
  const unlock = await lockFolder(path, 0)
  await unlock()
})

test('of several starts after a kill at most one gets the lock, and in time each does', async () => {
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
    // With enough time each gets it in turn.
    expect(await start(40, 60_000)).toEqual(['held', 'held', 'held'])
  } finally {
    for (const { end } of rivals) await end()
  }
})
