import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { earlyStartScript } from '#ssh/watchdog/start-script.ts'
import { lacks } from '#test/needs.ts'

const lacking = lacks('curl', 'wget', 'python3')
const patient = { timeout: 150_000, interval: 20 }

/** A service that answers each request the same, and the requests, as lines. */
async function service(answer = '{"success":true}') {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    asked.push([request.method, request.url, request.headers.authorization, body].join(' ').trim())
    response.end(answer)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Debian's, and no shim of another. */
const found = (program: string) =>
  execFileSync('which', [program], { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' }).trim()

/** A container with one of those tools, in which `sleep` takes no time. */
function container(tool: string) {
  const home = mkdtempSync(join(tmpdir(), 'berth-early-'))
  const [bin, folder] = [join(home, 'bin'), join(home, '.berth/watchdog')]
  mkdirSync(bin)
  for (const program of [tool, 'sh', 'cat', 'sed', 'date', 'tr', 'mkdir', 'nohup'])
    symlinkSync(found(program), join(bin, program))
  const napping = `#!/bin/sh\nexec ${found('sleep')} 0.02\n`
  writeFileSync(join(bin, 'sleep'), napping, { mode: 0o755 })
  const end = () => {
    const file = join(folder, 'pid')
    if (existsSync(file)) spawnSync('kill', ['-9', readFileSync(file, 'utf8').trim()])
  }
  onTestFinished(() => {
    end()
    rmSync(home, { recursive: true, force: true })
  })
  return {
    folder,
    end,
    /** What the container does at each of its starts. */
    start(script: string) {
      const env = { HOME: home, PATH: bin, CONTAINER_ID: 'C.7', CONTAINER_API_KEY: 'its-own' }
      const { status, stderr } = spawnSync(join(bin, 'sh'), ['-c', script], { env, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
    },
  }
}

/** What Berth wrote when the account's time was another one than this computer's. */
const scriptFor = (url: string, action: 'stop' | 'destroy', seconds: number) =>
  earlyStartScript({ action, at: 1_000_000 + seconds }, url, 10, 1_000_000)

test.skipIf(lacking).each(['curl', 'wget', 'python3'])(
  `the early watchdog acts by %s, and not again after a start${lacking}`,
  async tool => {
    const { asked, url } = await service()
    const { start, end } = container(tool)
    const stopping = await scriptFor(url, 'stop', 1)
    start(stopping)
    const stop = 'PUT /api/v0/instances/7/ Bearer its-own {"state":"stopped"}'
    await vi.waitFor(() => expect(asked).toContain(stop), patient)
    expect(new Set(asked)).toEqual(new Set([stop]))
    end()
    const asks = asked.length
    start(stopping)
    const other = container(tool)
    other.start(await scriptFor(url, 'destroy', 1))
    await vi.waitFor(() => expect(asked).toContain('DELETE /api/v0/instances/7/ Bearer its-own'), patient)
    expect(asked.slice(asks + 1)).not.toContain(stop)
  },
)

test.skipIf(lacking)(
  `its time goes on while the container is stopped, and ends with a later start${lacking}`,
  async () => {
    const { asked, url } = await service()
    const { start, folder, end } = container('curl')
    const script = await scriptFor(url, 'destroy', 3600)
    start(script)
    const began = () => Number(readFileSync(join(folder, 'began'), 'utf8'))
    await vi.waitFor(() => expect(began()).toBeGreaterThan(0), patient)
    await vi.waitFor(() => expect(existsSync(join(folder, 'pid'))).toBe(true), patient)
    end()
    // Two hours later: nobody means it any more.
    const first = began()
    writeFileSync(join(folder, 'began'), `${first - 7200}\n`)
    rmSync(join(folder, 'pid'))
    start(script)
    const late = spawnSync('sh', [join(folder, 'watchdog.sh'), 'run'], { env: { PATH: process.env['PATH'] } })
    expect([late.status, existsSync(join(folder, 'pid')), asked]).toEqual([0, false, []])
    // An hour and a minute later.
    writeFileSync(join(folder, 'began'), `${first - 3660}\n`)
    start(script)
    await vi.waitFor(() => expect(asked).toContain('DELETE /api/v0/instances/7/ Bearer its-own'), patient)
  },
)
