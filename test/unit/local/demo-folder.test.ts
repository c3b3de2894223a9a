import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeDemoFolder, tidyDemoFolders } from '../../../electron/local/start/demo-folder.ts'

let temporary = ''
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'berth-temporary-'))
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, temporary)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(temporary, { recursive: true, force: true, maxRetries: 20 })
})

/** The folder of a demo whose process was killed. */
async function leftBehind(): Promise<string> {
  const script = `
    import { makeDemoFolder } from ${JSON.stringify(new URL('../../../electron/local/start/demo-folder.ts', import.meta.url).href)}
    process.stdout.write(await makeDemoFolder())
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [path] = await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return String(path)
}

test('what a killed demo left is removed; what a living one has and what is not of a demo stays', async () => {
  const left = await leftBehind()
  await writeFile(join(left, 'access.json'), '{}')
  const own = await makeDemoFolder()
  const others = ['berth-demo-mine', 'berth-demo-1-x-abcdef', 'else']
  for (const name of others) await mkdir(join(temporary, name))
  const names = async () => (await readdir(temporary)).filter(name => !name.startsWith('tsx-'))
  expect(await names()).toContain(basename(left))
  await tidyDemoFolders()
  expect((await names()).toSorted()).toEqual([...others, basename(own)].toSorted())
})
