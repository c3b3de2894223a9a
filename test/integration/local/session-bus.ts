import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A session bus of the test's own, with the folders of a user who has never logged in. */
export interface TestSession {
  home: string
  env: NodeJS.ProcessEnv
  /** Starts a program in the session; it ends with it. */
  start(program: string, args: readonly string[], input?: string): ChildProcess
  /** Runs one to its end; gives its exit code and what it printed. */
  run(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }>
  end(): Promise<void>
}

/**
 * A bus on which nothing starts by being asked for: else who asks early gets a keyring that the bus began, not the one
 * that a test begins at the same time.
 */
const withoutServices = `<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

export async function startSession(more: NodeJS.ProcessEnv = {}): Promise<TestSession> {
  const home = await mkdtemp(join(tmpdir(), 'berth-session-'))
  const children: ChildProcess[] = []
  // Nothing of the desktop that the tests may be run on.
  const { DBUS_SESSION_BUS_ADDRESS: _bus, DISPLAY: _x, WAYLAND_DISPLAY: _wayland, ...outside } = process.env
  const base = { ...outside, HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: join(home, '.config') }
  const own = `--address=unix:path=${join(home, 'bus')}`
  const config = join(home, 'bus.conf')
  await writeFile(config, withoutServices)
  const bus = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address', own], {
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(bus)
  const [address] = await once(createInterface({ input: bus.stdout }), 'line')
  const env = { ...base, ...more, DBUS_SESSION_BUS_ADDRESS: String(address) }

  const start: TestSession['start'] = (program, args, input) => {
    const stdin = input === undefined ? 'ignore' : 'pipe'
    const child = spawn(program, args, { env, stdio: [stdin, 'pipe', 'pipe'] })
    child.stdin?.end(input)
    children.push(child)
    return child
  }

  return {
    home,
    env,
    start,
    async run(program, args) {
      const child = start(program, args)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
      const [code] = await once(child, 'close')
      return { code, output }
    },
    async end() {
      for (const child of children.toReversed()) child.kill('SIGKILL')
      // Who was killed a moment ago may still be writing.
      await rm(home, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}
