import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { outputOf } from '#ssh/exec.ts'
import { watchdogScript } from '#ssh/watchdog/start-script.ts'
import { receiver } from '#test/berth/relays.ts'
import { lacks } from '#test/needs.ts'
import { type ScratchMachine, scratchMachine } from '../machine.ts'
import { sshd } from '../own-root.ts'
import { type Sshd, startSshd } from '../sshd.ts'
import { account, target } from '../steps.ts'

const tools = ['curl', 'wget', 'python3'] as const
/** Each shell, and each tool: how a tool is called is no matter of the shell. */
const pairs = [
  { name: 'dash', shell: ['dash'], tool: 'curl' },
  { name: 'dash', shell: ['dash'], tool: 'python3' },
  { name: 'bash', shell: ['bash'], tool: 'wget' },
  { name: 'busybox sh', shell: ['busybox', 'sh'], tool: 'wget' },
]
/** The programs that the script may need besides a shell and one of `tools`. */
const small = ['cat', 'date', 'mv', 'rm', 'sed', 'sleep', 'tail', 'timeout', 'tr']

// Each pair mostly rests.
vi.setConfig({ maxConcurrency: 9 })

const lacking = lacks(sshd, 'dash', 'busybox', ...tools)

describe.skipIf(lacking)(`the watchdog’s script${lacking}`, () => {
  let sim: Simulator
  let stub: Awaited<ReturnType<typeof receiver>>
  let sshd: Sshd
  let machine: ScratchMachine
  let ssh: Ssh
  let lease: SharedConnection
  const neighbours: ChildProcess[] = []
  /** Running instances that no test uses yet. */
  let spare: { id: number; key: string }[]

  beforeAll(async () => {
    sim = await startSimulator({ speed: 1, calm: true, limits: false, offers: 200 })
    stub = await receiver()
    stub.answers((response, { path }) => response.writeHead(path.endsWith('/moved') ? 307 : 200).end())
    sshd = await startSshd(['MaxSessions 200'])
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).load('berth')).publicKey)
    lease = await ssh.connect(target({ direct: sshd }))
    spare = await rent(7 * pairs.length)
  })
  afterAll(async () => {
    for (const neighbour of neighbours) neighbour.kill()
    await ssh?.close()
    machine?.remove()
    await sshd?.close()
    await sim?.close()
    await stub?.close()
  })

  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${sim.baseUrl}/api/v0${path}`, {
      method,
      headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as T
  }

  /** Rents `count` instances and waits until they run. */
  async function rent(count: number): Promise<{ id: number; key: string }[]> {
    const { offers } = await api<{ offers: { id: number }[] }>('POST', '/bundles/', { limit: 200 })
    const rented = await Promise.all(
      offers.slice(0, count).map(async ({ id }) => {
        const made = await api<{ new_contract: number; instance_api_key: string }>('PUT', `/asks/${id}/`, {
          image: 'ubuntu',
          disk: 10,
        })
        return { id: made.new_contract, key: made.instance_api_key }
      }),
    )
    await sim.controls.advance(900)
    return rented
  }

  /** The intended status, `undefined` for a destroyed instance. */
  async function stateOf(id: number): Promise<string | undefined> {
    const { instances } = await api<{ instances?: { intended_status: string } }>('GET', `/instances/${id}/`)
    return instances?.intended_status
  }

  /** A folder with links to the small programs, and one tool that records its arguments. */
  function programs(name: string, tool: string): string {
    const bin = join(sshd.folder, name)
    mkdirSync(bin)
    const find = (program: string) =>
      execFileSync('which', ['-a', program], { encoding: 'utf8' })
        .split('\n')
        .find(path => !path.includes('shims')) ?? ''
    for (const program of small) symlinkSync(find(program), join(bin, program))
    writeFileSync(
      join(bin, tool),
      `#!/bin/sh\nprintf '%s\\n' "$*" >> "$HOME/called"\nexec ${find(tool)} "$@"\n`,
    )
    writeFileSync(
      join(bin, 'nvidia-smi'),
      `#!/bin/sh\n/bin/cat "$LOADS"\necho "WARNING: infoROM is corrupted at gpu 0000:01:00.0"\nexit 14\n`,
    )
    for (const program of [tool, 'nvidia-smi']) chmodSync(join(bin, program), 0o755)
    return bin
  }

  /** A run whose command takes a second once it hears of a stop; whether it did. */
  function asksForNotice(run: string): () => boolean {
    mkdirSync(run, { recursive: true })
    const saves = `sleep 1; read -r up _ < /proc/uptime; echo "\${up%%.*}" > ${run}/stopped`
    const around = spawn('sh', [
      '-c',
      `trap '${saves}' USR2; while :; do sleep 0.1; done`,
      `${run}/around.sh`,
    ])
    neighbours.push(around)
    writeFileSync(join(run, 'around'), String(around.pid))
    writeFileSync(join(run, 'before_stop'), 'TERM 60')
    return () => existsSync(join(run, 'stopped'))
  }

  /** Starts a watchdog in its own folder. */
  async function watchdog(
    shell: readonly string[],
    bin: string,
    of: { id: number; key: string },
    config: Record<string, string | number>,
    loads = '3\n0\n',
  ) {
    const folder = join(bin, String(of.id), 'watchdog')
    mkdirSync(folder, { mode: 0o700, recursive: true })
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 })
    writeFileSync(join(folder, 'watchdog.sh'), await watchdogScript())
    const lines = { url: sim.baseUrl, instance: of.id, tick: 1, ...config }
    write(
      'config',
      Object.entries(lines)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    write('key', `${of.key}\n`)
    write('loads', loads)
    const env = `env -i HOME=${folder} PATH=${bin} LOADS=${folder}/loads`
    const at = shell.length > 1 ? '/bin/busybox sh' : `/bin/${shell[0]}`
    await outputOf(
      lease.connection,
      `setsid ${env} ${at} ${folder}/watchdog.sh run </dev/null >/dev/null 2>${folder}/errors & true`,
      { clock: machine.clock, within: 60_000, most: 1000 },
    )
    const read = (name: string) => {
      try {
        return readFileSync(join(folder, name), 'utf8')
      } catch {
        return ''
      }
    }
    return {
      folder,
      write,
      read,
      logs: (text: string | RegExp) =>
        vi.waitFor(() => expect(read('log')).toMatch(text), { timeout: 150_000, interval: 100 }),
      async end() {
        process.kill(Number(read('pid')), 'SIGTERM')
        await vi.waitFor(() => expect(read('pid')).toBe(''), { timeout: 150_000 })
      },
    }
  }

  const becomes = (id: number, state: string | undefined) =>
    vi.waitFor(async () => expect(await stateOf(id)).toBe(state), { timeout: 150_000, interval: 200 })

  test.concurrent.each(pairs)(
    'runs in $name with only $tool',
    async ({ name, shell, tool }) => {
      const [timed, idle, leased, busy, own, other, ran] = spare.splice(0, 7)
      if (!timed || !idle || !leased || !busy || !own || !other || !ran) throw new Error('no offers')
      const bin = programs(`${name.replace(' ', '-')}-${tool}`, tool)
      const { now } = await sim.controls.advance(0)
      const put = (of: typeof timed, config: Record<string, string | number>, loads?: string) =>
        watchdog(shell, bin, of, config, loads)
      // It ran on this instance before, which was stopped and started since.
      mkdirSync(join(bin, String(own.id), 'watchdog'), { recursive: true })
      writeFileSync(join(bin, String(own.id), 'watchdog', 'state'), '')
      const noticed = asksForNotice(join(bin, String(leased.id), 'runs', 'x1'))
      const [onTime, whenIdle, byLease, whileBusy, ofAnother, afterRun, afresh] = await Promise.all([
        // World time is over an hour ahead of this machine, so its clock would act an hour late.
        put(timed, { action: 'destroy', at: Math.ceil(now) + 2 }),
        put(idle, { idle: 2, below: 5 }),
        put(leased, { lease: 3 }),
        put(busy, { idle: 2, below: 5 }, '0\n97\n'),
        put({ id: other.id, key: own.key }, { idle: 1 }),
        put(ran, {}),
        put(own, { action: 'destroy', at: Math.floor(now) - 60 }),
      ])

      const topic = bin.slice(bin.lastIndexOf('/') + 1)
      const tell = (of: typeof timed, path: string) =>
        `${stub.url}/${topic}/${path}\n${JSON.stringify({ text: `say "C:\\x" #${of.id}: @TEXT@` })}\n`
      whenIdle.write('tell', tell(idle, 'idle?code=its-secret'))
      afterRun.write('tell', tell(ran, 'ran'))
      whileBusy.write('tell', tell(busy, 'moved'))
      // One run on the instance has failed, so its files are kept; another continues.
      const run = join(afterRun.folder, '..', 'runs', 'x1')
      const going = join(afterRun.folder, '..', 'runs', 'x2')
      for (const one of [run, going]) mkdirSync(one, { recursive: true })
      const neighbour = spawn('sh', ['-c', 'sleep 600', `${going}/x2/run.sh`])
      neighbours.push(neighbour)
      writeFileSync(join(going, 'pid'), String(neighbour.pid))
      writeFileSync(join(run, 'then'), 'destroy 2')
      writeFileSync(join(run, 'code'), '1')

      await becomes(timed.id, undefined)
      await onTime.logs(/its time has come: destroy\n.*try 1 with \w+: done \(200\)/)
      await becomes(idle.id, 'stopped')
      await whenIdle.logs(/no load above 5% for \d+ s: stop/)
      await becomes(leased.id, 'stopped')
      // The command was told before, and had the time that it needed, not all of it.
      await byLease.logs(
        /a command has 60 s before this is done: stop\n.*Berth has not renewed the lease for \d+ s: stop/,
      )
      expect(noticed()).toBe(true)

      expect(await stateOf(busy.id)).toBe('running')
      whileBusy.write('loads', '0\n4\n')
      expect(await stateOf(ran.id)).toBe('running')
      writeFileSync(join(going, 'code'), '1')
      await becomes(ran.id, 'stopped')
      await afterRun.logs(/run x1 has ended: stop/)
      // After another start the ended run has no further effect.
      await afterRun.end()
      await put(ran, {})
      await afterRun.logs(/watching[\s\S]*watching/)
      expect(readdirSync(run)).toEqual(['code'])

      await ofAnother.logs(/try 1 with \w+: refused \(403\)/)
      expect(await stateOf(other.id)).toBe('running')

      await becomes(busy.id, 'stopped')

      await afresh.logs(/its time came while it was not running: it acts in 300 s/)
      expect(await stateOf(own.id)).toBe('running')
      await afresh.end()

      const told = (path: string) =>
        stub.got.flatMap(got => (got.path.startsWith(`/${topic}/${path}`) ? JSON.parse(got.body).text : []))
      expect(told('idle')).toEqual([
        expect.stringMatching(/^say "C:\\x" #\d+: Being stopped: its GPUs were idle for \d+ s\.$/),
      ])
      expect(told('ran')).toEqual([
        expect.stringMatching(/: Being stopped: its run has failed \(exit code 1\)\.$/),
      ])
      // A redirect is not followed, and hinders no stop. What was told is gone.
      expect(told('moved')).toHaveLength(1)
      expect(stub.got.every(({ path, headers }) => path.length > 1 && !headers.authorization)).toBe(true)
      expect([whenIdle, afterRun, whileBusy].map(one => one.read('tell') !== '')).toEqual([
        false,
        false,
        true,
      ])
      for (const one of [onTime, whenIdle, byLease, whileBusy, ofAnother, afterRun]) {
        for (const name of ['called', 'log']) expect(one.read(name)).not.toMatch(/its-secret|moved/)
        expect(one.read('errors')).toBe('')
        expect(one.read('called')).toContain('/api/v0/instances/')
        expect(one.read('called')).not.toContain(one.read('key').trim())
        expect(one.read('log')).not.toContain(one.read('key').trim())
      }
      await Promise.all([onTime, whenIdle, byLease, whileBusy, ofAnother, afterRun].map(one => one.end()))
      for (const one of [onTime, whenIdle, byLease, whileBusy, ofAnother, afterRun]) {
        for (const file of readdirSync(one.folder).filter(name => !/watchdog.sh|errors|called/.test(name)))
          expect(statSync(join(one.folder, file)).mode & 0o077).toBe(0)
        expect(readdirSync(one.folder)).not.toContain('wgetrc')
      }
    },
    300_000,
  )

  test('acts on a time that came while it was not running once Berth has had five minutes', () => {
    const decide = readFileSync('electron/ssh/watchdog/script/decide.sh', 'utf8')
    const facts =
      'here=/nowhere runs=/nowhere lease_text= leased_at=0 idle= lease= at=1000 now=1100 time_from=400'
    const whyAt = (uptime: number) => {
      const script = `${decide}\n${facts} uptime=${uptime} action=stop\ndecide 2> /dev/null\necho "$why"`
      return execFileSync('dash', ['-c', script], { encoding: 'utf8' }).trim()
    }
    expect([whyAt(399), whyAt(400)]).toEqual(['', 'time'])
  })
})
