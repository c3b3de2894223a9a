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
async function service(answer = '{"success":true}', status = 200) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    asked.push([request.method, request.url, request.headers.authorization, body].join(' ').trim())
    response.writeHead(status).end(answer)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Debian's, and no shim of another. */
const found = (program: string) =>
  execFileSync('which', [program], { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' }).trim()

/** A container with one of those tools, on a host whose uptime only `sleep` advances. */
function container(tool: string) {
  const home = mkdtempSync(join(tmpdir(), 'berth-early-'))
  const [bin, folder] = [join(home, 'bin'), join(home, '.berth/watchdog')]
  mkdirSync(bin)
  for (const program of [tool, 'sh', 'tr', 'mkdir', 'mv', 'rm'])
    symlinkSync(found(program), join(bin, program))
  const [uptime, clock, host] = [join(home, 'uptime'), join(home, 'clock'), join(home, 'host')]
  const setUptime = (seconds: number) => writeFileSync(uptime, `${seconds}.25 9.1\n`)
  const setClock = (seconds: number) => writeFileSync(clock, `${seconds}\n`)
  const setHost = (id: string) => writeFileSync(host, `${id}\n`)
  setUptime(5000)
  setClock(700_000)
  setHost('one')
  const program = (name: string, text: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  program('date', `exec ${found('cat')} ${clock}`)
  program('cat', `case $1 in */boot_id) set -- ${host}; esac; exec ${found('cat')} "$@"`)
  program('sed', `case $2 in /proc/uptime) set -- "$1" ${uptime}; esac; exec ${found('sed')} "$@"`)
  const later = (file: string, ends: string) =>
    `read -r now rest < ${file}; echo "$((\${now%.*} + $1))${ends}" > ${file}.new; mv ${file}.new ${file}`
  program('sleep', `${later(uptime, '.25 9.1')}; ${later(clock, '')}; exec ${found('sleep')} 0.02`)
  const end = () => {
    const file = join(folder, 'pid')
    if (existsSync(file)) spawnSync('kill', ['-9', readFileSync(file, 'utf8').trim()])
  }
  onTestFinished(() => {
    end()
    rmSync(home, { recursive: true, force: true })
  })
  return {
    end,
    setClock,
    setUptime,
    setHost,
    hasActed: () => existsSync(join(folder, 'done')),
    now: () => Number(readFileSync(uptime, 'utf8').split('.')[0]),
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

test.skipIf(lacking).each([
  ['a gateway’s 404', 404],
  ['a network’s own page', 200],
])(`%s ends no early watchdog${lacking}`, async (_, status) => {
  const { asked, url } = await service('<html>', status)
  const { start, hasActed } = container('curl')
  start(await scriptFor(url, 'destroy', 1))
  const destroy = 'DELETE /api/v0/instances/7/ Bearer its-own'
  await vi.waitFor(() => expect(asked.slice(0, 2)).toEqual([destroy, destroy]), patient)
  // Another start goes on.
  await vi.waitFor(() => expect(hasActed()).toBe(false), { ...patient, interval: 5 })
})

test.skipIf(lacking)(
  `its time goes on while the container is stopped; also over a restart of the host; a start after it has five minutes, and only stops${lacking}`,
  async () => {
    const { asked, url } = await service()
    const { start, end, now, setClock, setUptime, setHost } = container('curl')
    const script = await scriptFor(url, 'destroy', 3600)
    start(script)
    await vi.waitFor(() => expect(now()).toBeGreaterThan(5000), patient)
    // A clock that is set right is no time that passes.
    setClock(700_000 + 10_900)
    await vi.waitFor(() => expect(now()).toBeGreaterThan(5100), patient)
    end()
    expect(asked).toEqual([])
    setHost('two')
    setUptime(60)
    setClock(700_000 + 7200)
    start(script)
    const stop = 'PUT /api/v0/instances/7/ Bearer its-own {"state":"stopped"}'
    await vi.waitFor(() => expect(asked).toContain(stop), patient)
    expect(now()).toBeGreaterThanOrEqual(60 + 300)
    expect(asked).toEqual([stop])
  },
)
