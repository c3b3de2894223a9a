import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { systemSyncedFolders } from '#platform/synced-folders.ts'

const server = '/usr/lib/openssh/sftp-server'
const canMount = existsSync('/usr/bin/sshfs') && existsSync(server) && mayUse('/dev/fuse')

function mayUse(device: string): boolean {
  try {
    accessSync(device, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

const endings: (() => void)[] = []
afterEach(() => {
  for (const end of endings.splice(0).reverse()) end()
})

/** A folder on a file system whose other side is a process: stopped, it answers nothing. */
async function mounted(
  files: Readonly<Record<string, string>>,
): Promise<{ mount: string; other: ChildProcess }> {
  const place = mkdtempSync(join(tmpdir(), 'berth-mount-'))
  const [source, mount] = [join(place, 'source'), join(place, 'mount')]
  mkdirSync(source)
  mkdirSync(mount)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(source, path, '..'), { recursive: true })
    writeFileSync(join(source, path), text)
  }
  // Their pipes are their own: through this process they would wait for a call of its that waits for them.
  const script = `mkfifo a b; sshfs -f -o passive ":$PWD/source" mount < b > a & exec ${server} > b < a`
  const other = spawn('sh', ['-c', script], { cwd: place, stdio: 'ignore' })
  endings.push(() => {
    other.kill('SIGCONT')
    execFileSync('fusermount3', ['-u', '-z', mount])
    other.kill('SIGKILL')
    rmSync(place, { recursive: true, force: true })
  })
  await expect
    .poll(() => existsSync(join(mount, Object.keys(files)[0] ?? '')), { timeout: 20_000 })
    .toBe(true)
  return { mount, other }
}

describe.skipIf(!canMount)(canMount ? 'a folder' : 'a folder: needs sshfs and /dev/fuse', () => {
  test('that answers nothing is told after a while, is asked no more until it does, and holds nothing else up', async () => {
    const { mount, other } = await mounted({ 'project/berth.yaml': 'run: train' })
    const folder = systemSyncedFolders.at(join(mount, 'project'))
    other.kill('SIGSTOP')
    const silent = { problem: { code: 'folder_silent' } }
    await expect(folder.read('berth.yaml', 100)).rejects.toMatchObject(silent)
    const asked = performance.now()
    for (const use of [() => folder.list(''), () => folder.rules(''), () => folder.repository()])
      await expect(use()).rejects.toMatchObject(silent)
    expect(performance.now() - asked).toBeLessThan(1000)
    other.kill('SIGCONT')
    const read = () => folder.read('berth.yaml', 100).catch(() => undefined)
    await expect.poll(async () => (await read())?.bytes.toString(), { timeout: 20_000 }).toBe('run: train')
  })
})
