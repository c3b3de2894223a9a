import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchdogScript } from '#ssh/watchdog/start-script.ts'

/**
 * Runs the script with only curl, on a clock that `rest` advances. At `sleeps.at` the container sleeps for
 * `sleeps.seconds`.
 */
const handClock = (ends: number, sleeps = { at: ends, seconds: 0 }) => `
find_tools() { tools=' curl'; }
read_uptime() { read -r uptime < "$here/clock"; }
rest() {
  slept=0
  if [ "$uptime" -eq ${sleeps.at} ]; then slept=${sleeps.seconds}; fi
  echo $((uptime + $1 + slept)) > "$here/clock"
  if [ "$uptime" -ge ${ends} ]; then rm -f "$here/config"; fi
}
run
`

/** What Berth told at the clock's 1000th second, epoch seconds: years after what the service answers. */
const toldAt = 2_000_000_000

/** A folder with the script and fake programs: the service answers with `status` and `body`, the GPU is idle. */
async function folderOf(config: Record<string, string | number>, status = 200, body = '{"success":true}') {
  const folder = mkdtempSync(join(tmpdir(), 'berth-watchdog-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  program(
    'curl',
    `printf 'HTTP/1.1 ${status} Told\\nDate: Sat, 21 Nov 2026 06:58:33 GMT\\n\\n%s\\n' '${body}'`,
  )
  program('nvidia-smi', 'echo 0')
  const script = await watchdogScript()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const told = {
    told: toldAt,
    told_up: 1000,
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  }
  const lines = Object.entries({ url: 'http://service', instance: 7, ...told, ...config })
  write('key', 'its-own\n')
  write('clock', '1000\n')
  write('watchdog.sh', script)
  const { PATH } = process.env
  const env = { HOME: folder, PATH: `${bin}:${PATH}` }
  const writeConfig = () => write('config', lines.map(([name, value]) => `${name}=${value}\n`).join(''))
  const file = join(folder, 'watchdog.sh')
  writeConfig()
  return {
    write,
    /** The container starts again, with what the last life has left. */
    restart() {
      write('log', '')
      writeConfig()
    },
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** Runs it to its end on that clock; gives its log, with seconds since its start. */
    live(clock: string): string[] {
      const [life = ''] = script.split(/\ncase \$\{1:-\} in/)
      expect(life.length).toBeLessThan(script.length)
      write('watchdog.sh', `${life}\n${clock}`)
      const { stderr } = spawnSync('sh', [file], { env, encoding: 'utf8' })
      expect(stderr).toBe('')
      const log = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
      const began = Number(log[0]?.split(' ')[0])
      return log.map(line => line.replace(/^\d+/, at => String(Number(at) - began)))
    },
    begin: (): ChildProcess => spawn('sh', [file, 'run'], { env, stdio: 'ignore' }),
    run: () => spawnSync('sh', [file, 'run'], { env, timeout: 150_000 }).status,
  }
}

test('a refused key is retried after ten minutes, a failing service after 2 to 256 s', async () => {
  const config = { lease: 60, tick: 10 }
  for (const status of [401, 403]) {
    const { live } = await folderOf(config, status)
    expect(live(handClock(2400)).filter(line => line.includes('try '))).toEqual([
      `60 try 1 with curl: refused (${status}); again in 600 s`,
      `660 try 2 with curl: refused (${status}); again in 600 s`,
      `1260 try 3 with curl: refused (${status}); again in 600 s`,
    ])
  }
  const { live } = await folderOf(config, 503)
  const pauses = live(handClock(2400)).flatMap(line => /again in (\d+) s/.exec(line)?.[1] ?? [])
  expect(pauses.slice(0, 9)).toEqual(['2', '4', '8', '16', '32', '64', '128', '256', '256'])
})

test.each([
  ['a gateway’s 404', 404, '<html><h1>404 Not Found</h1><hr>nginx</html>'],
  ['the service’s 404 of a key', 404, '{"success":false,"error":"auth_error","msg":"Invalid user key"}'],
  ['another page', 200, '<html>Sign in to this network</html>'],
])('%s ends no watchdog', async (_, status, body) => {
  const { live, read } = await folderOf({ at: toldAt + 60, tick: 10 }, status, body)
  const tries = live(handClock(2400)).filter(line => line.includes('try '))
  expect(tries.length).toBeGreaterThan(8)
  expect(tries.every(line => line.includes(`refused (${status})`))).toBe(true)
  expect(() => read('done')).toThrow()
})

test('a container that slept counts its idle time from zero', async () => {
  const { live } = await folderOf({ idle: 300, tick: 10 })
  expect(live(handClock(5600, { at: 1200, seconds: 4000 }))).toEqual([
    '0 watching instance 7 with curl, by the service’s time',
    '4210 watching instance 7 with curl, by the service’s time',
    '4510 no load above 5% for 300 s: stop',
    '4510 try 1 with curl: done (200)',
  ])
})

test('its time to act goes by what Berth told, not by one answer, and by answers after a start of the machine', async () => {
  const config = { at: toldAt + 60, tick: 10, action: 'destroy' }
  const told = await folderOf(config)
  expect(told.live(handClock(1200))).toContain('60 its time has come: destroy')
  const answered = await folderOf({ ...config, boot: 'another' })
  expect(answered.live(handClock(1200))).toEqual(['0 watching instance 7 with curl, by the service’s time'])
})

test('a time that came hours before a start stops five minutes after it, once, and not at the first start', async () => {
  const belated = { at: toldAt - 7200, tick: 10, action: 'destroy' }
  const fresh = await folderOf(belated)
  expect(fresh.live(handClock(2000))).toHaveLength(1)
  const again = await folderOf(belated)
  again.write('state', '')
  expect(again.live(handClock(1500)).slice(0, 4)).toEqual([
    '0 its time came while it was not running: it acts in 300 s, unless Berth says otherwise',
    '0 watching instance 7 with curl, by the service’s time',
    '300 its time has come: stop',
    '300 try 1 with curl: done (200)',
  ])
  again.restart()
  expect(again.live(handClock(3000))).toHaveLength(1)
})

test('a watchdog replaces a dead one, and exits while another one lives', async () => {
  const { begin, run, read, write } = await folderOf({ tick: 1 })
  // The pid belongs to a program that is not a watchdog.
  write('pid', `${process.pid}\n`)
  const first = begin()
  const ended = new Promise(resolve => first.once('exit', resolve))
  onTestFinished(async () => {
    first.kill('SIGTERM')
    await ended
  })
  await vi.waitFor(() => expect(read('log')).toContain('watching'), { timeout: 150_000 })
  expect(read('pid').trim()).toBe(String(first.pid))
  expect(run()).toBe(0)
  expect(read('pid').trim()).toBe(String(first.pid))
  expect(read('log').match(/watching/g)).toHaveLength(1)
})
