import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlreadyRunningError, lockFolder } from '../../../electron/local/start/lock.ts'

let folder = ''
let path = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-lock-'))
  path = join(folder, 'lock')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A process that holds the lock until it is told to end. */
async function holder() {
  const script = `
    import { lockFolder } from ${JSON.stringify(new URL('../../../electron/local/start/lock.ts', import.meta.url).href)}
    await lockFolder(${JSON.stringify(path)}, 0)
    process.stdout.write('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
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
  await writeFile(path, `${process.ppid} 1\n`)
  const unlock = await lockFolder(path, 0)
  await unlock()
})

test.each(['', 'rubbish', '-1 5', '0 0'])('a file that says %j holds nothing', async text => {
  await writeFile(path, text)
  const unlock = await lockFolder(path, 0)
  await unlock()
})
