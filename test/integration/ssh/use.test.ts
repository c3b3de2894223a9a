import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { outputOf } from '#ssh/exec.ts'
import { readUse } from '#ssh/monitor/use.ts'
import { openShellOn } from '#ssh/shell/shell.ts'
import { openChannel } from '#ssh/tunnels/channel.ts'
import { lacks } from '#test/needs.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { openPlace } from './files/place.ts'
import { sshd } from './own-root.ts'

const lacking = lacks(sshd, 'dash', 'busybox', 'python3')

async function openMachine(config: readonly string[] = []) {
  const { sshd, connect } = await openPlace(config)
  const { connection } = await connect()
  return { home: sshd.home, connection, use: () => readUse(connection, systemClock) }
}

/** What the watchdog's part says in a shell. `seen`: its file of the last time. */
async function told(
  [program = '', ...args]: readonly string[],
  home: string,
  path: string,
  seen = '',
): Promise<string> {
  const script = `home=$HOME seen=${seen}
${readFileSync('electron/ssh/watchdog/script/use.sh', 'utf8')}
read_use 2> /dev/null
echo "[$used $used_by]"`
  const { stdout } = await promisify(execFile)(`/bin/${program}`, [...args, '-c', script], {
    encoding: 'utf8',
    env: { HOME: home, PATH: path },
  })
  return stdout.trim()
}

/** A Jupyter server's kernels, and how it lists itself in a home folder. */
async function listJupyter(home: string) {
  let kernel = { execution_state: 'idle', last_activity: new Date(Date.now() - 1800_000).toISOString() }
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`)
    response.end(JSON.stringify([{ id: 'k', connections: 0, ...kernel }]))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const runtime = join(home, '.local/share/jupyter/runtime')
  mkdirSync(runtime, { recursive: true })
  const { port } = server.address() as AddressInfo
  const file = join(runtime, 'jpserver-1.json')
  const listed = {
    base_url: '/j/',
    pid: process.pid,
    port,
    secure: false,
    token: 's3cret',
    url: 'http://other/j/',
  }
  writeFileSync(file, JSON.stringify(listed, undefined, 2))
  return {
    asked,
    set: (changed: Partial<typeof kernel>) => {
      kernel = { ...kernel, ...changed }
    },
  }
}

describe.skipIf(lacking)(`who uses a machine${lacking}`, () => {
  test('is nobody where Berth alone is connected, and whoever types at a terminal', async () => {
    const { connection, use } = await openMachine()
    expect(await use()).toEqual({})
    const { stream } = await openShellOn(connection, true, { columns: 80, rows: 24 })
    onTestFinished(() => void stream.destroy())
    stream.resume()
    stream.write('true\n')
    await expect.poll(use, { timeout: 20_000 }).toEqual({ secondsAgo: expect.any(Number), by: 'terminal' })
    expect((await use())?.secondsAgo).toBeLessThan(60)
  })

  test('is told with the load of the busiest GPU', async () => {
    const programs = temporaryFolder({ 'nvidia-smi': '#!/bin/sh\necho 3\necho 97\n' })
    chmodSync(join(programs, 'nvidia-smi'), 0o755)
    const { use } = await openMachine([`SetEnv PATH=${programs}:${process.env['PATH']}`])
    expect(await use()).toEqual({ load: 97 })
    writeFileSync(join(programs, 'nvidia-smi'), '#!/bin/sh\necho Failed to initialize NVML\n')
    expect(await use()).toEqual({})
  })

  test('is a page that is open through a tunnel, and a tunnel without one is not', async () => {
    const { home, connection, use } = await openMachine()
    const script = `import http.server, os
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
open(os.environ["HOME"] + "/port", "w").write(str(server.server_port))
server.serve_forever()`
    writeFileSync(join(home, 'page.py'), script)
    await outputOf(connection, `nohup python3 ${home}/page.py < /dev/null > /dev/null 2>&1 & true`, {
      clock: systemClock,
      within: 20_000,
      most: 1000,
    })
    const port = () => {
      try {
        return Number(readFileSync(join(home, 'port'), 'utf8'))
      } catch {
        return 0
      }
    }
    await expect.poll(port).toBeGreaterThan(0)
    expect(await use()).toEqual({})
    const page = await openChannel(connection, port())
    await expect.poll(use, { timeout: 20_000 }).toEqual({ secondsAgo: 0, by: 'page' })
    // The computer at the other end of the tunnel sleeps: it sends nothing more.
    const asleep = () => told(['dash'], home, process.env['PATH'] ?? '', join(home, 'seen'))
    expect(await asleep()).toBe('[0 page]')
    // What was sent before may still arrive.
    await expect.poll(asleep).toBe('[ ]')
    await use()
    expect(await asleep()).toBe('[0 page]')
    page.destroy()
    await expect.poll(use, { timeout: 20_000 }).toEqual({})
  })

  test('is a kernel that works, or did so last, asked without being counted as its use', async () => {
    const { home, use } = await openMachine()
    const { asked, set } = await listJupyter(home)
    expect(await use()).toEqual({ secondsAgo: expect.any(Number), by: 'kernel' })
    const { secondsAgo = 0 } = (await use()) ?? {}
    expect(Math.abs(secondsAgo - 1800)).toBeLessThan(60)
    set({ execution_state: 'busy' })
    expect(await use()).toEqual({ secondsAgo: 0, by: 'kernel' })
    expect(new Set(asked)).toEqual(new Set(['/j/api/kernels?no_track_activity=1 token s3cret']))
  })

  test.each([[['dash']], [['busybox', 'sh']]])(
    'is told by %j as well, and by none that lacks programs',
    async shell => {
      const { home } = await openMachine()
      await listJupyter(home).then(({ set }) => set({ execution_state: 'busy' }))
      expect(await told(shell, home, process.env['PATH'] ?? '')).toBe('[0 kernel]')
      expect(await told(shell, home, '/nowhere')).toBe('[ ]')
    },
  )
})
