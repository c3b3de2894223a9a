import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchdogScript } from '../../../../electron/ssh/watchdog/script/script.ts'

/**
 * Its life, with curl alone, by a clock of which a second passes whenever it rests for one; at `sleeps.at` the container
 * sleeps for so long.
 */
const handClock = (ends: number, sleeps = { at: ends, seconds: 0 }) => `
find_tools() { tools=' curl'; }
find_time() { sure=1 ahead=0; }
read_uptime() { read -r uptime < "$here/clock"; }
rest() {
  slept=0
  if [ "$uptime" -eq ${sleeps.at} ]; then slept=${sleeps.seconds}; fi
  echo $((uptime + $1 + slept)) > "$here/clock"
  if [ "$uptime" -ge ${ends} ]; then rm -f "$here/config"; fi
}
run
`

/** A folder with the script, and programs that answer as they are told: the service with `status`, the GPU with no load. */
async function folderOf(config: Record<string, string | number>, status = 200) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-watchdog-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  program('curl', `printf 'HTTP/1.1 ${status} Told\\nDate: Sat, 21 Nov 2026 06:58:33 GMT\\n\\n{}\\n'`)
  program('nvidia-smi', 'echo 0')
  const script = await watchdogScript()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const lines = Object.entries({ url: 'http://service', instance: 7, ...config })
  write('config', lines.map(([name, value]) => `${name}=${value}\n`).join(''))
  write('key', 'its-own\n')
  write('clock', '1000\n')
  write('watchdog.sh', script)
  const { PATH } = process.env
  const env = { HOME: folder, PATH: `${bin}:${PATH}` }
  const file = join(folder, 'watchdog.sh')
  return {
    write,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** Its whole life by that clock; gives its log with the seconds since it began, by the service's time. */
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
    run: () => spawnSync('sh', [file, 'run'], { env, timeout: 60_000 }).status,
  }
}

test('a key that is refused is tried again after ten minutes, and a service that is down after seconds', async () => {
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

test('a container that slept counts idle time anew, since nobody saw what its GPUs did', async () => {
  const { live } = await folderOf({ idle: 300, tick: 10 })
  expect(live(handClock(5600, { at: 1200, seconds: 4000 }))).toEqual([
    '0 watching instance 7 with curl, by the service’s time',
    '4210 watching instance 7 with curl, by the service’s time',
    '4510 no load above 5 % for 300 s: stop',
    '4510 try 1 with curl: done (200)',
  ])
})

test('a second one leaves while the first one lives, and takes the place of one that is dead', async () => {
  const { begin, run, read, write } = await folderOf({ tick: 1 })
  // The number is that of a program that is no watchdog.
  write('pid', `${process.pid}\n`)
  const first = begin()
  const ended = new Promise(resolve => first.once('exit', resolve))
  onTestFinished(async () => {
    first.kill('SIGTERM')
    await ended
  })
  await vi.waitFor(() => expect(read('log')).toContain('watching'), { timeout: 30_000 })
  expect(read('pid').trim()).toBe(String(first.pid))
  expect(run()).toBe(0)
  expect(read('pid').trim()).toBe(String(first.pid))
  expect(read('log').match(/watching/g)).toHaveLength(1)
})
