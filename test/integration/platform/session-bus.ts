import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The ids of a user and of their group. */
export interface UserIds {
  uid: number
  gid: number
}

/** A session bus for one test, with an empty home folder. */
export interface TestSession {
  home: string
  env: NodeJS.ProcessEnv
  /** Starts a program in the session, which ends with the session. */
  start(program: string, args: readonly string[], input?: string): ChildProcess
  /** Runs a program to its end; gives its exit code and output. */
  run(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }>
  end(): Promise<void>
}

/** A bus that activates no services: an early lookup would start a keyring beside the one of the test. */
const withoutServices = `<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default"><allow user="root"/><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

/** Starts a session, of another user if `user` is given. */
export async function startSession(more: NodeJS.ProcessEnv = {}, user?: UserIds): Promise<TestSession> {
  const home = await mkdtemp(join(tmpdir(), 'berth-session-'))
  if (user) await chown(home, user.uid, user.gid)
  const children: ChildProcess[] = []
  // Leaves out the desktop on which the tests run.
  const { DBUS_SESSION_BUS_ADDRESS: _bus, DISPLAY: _x, WAYLAND_DISPLAY: _wayland, ...outside } = process.env
  const base = { ...outside, HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: join(home, '.config') }
  const own = `--address=unix:path=${join(home, 'bus')}`
  const config = join(home, 'bus.conf')
  await writeFile(config, withoutServices)
  const bus = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address', own], {
    ...user,
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(bus)
  const [address] = await once(createInterface({ input: bus.stdout }), 'line')
  const env = { ...base, ...more, DBUS_SESSION_BUS_ADDRESS: String(address) }

  const start: TestSession['start'] = (program, args, input) => {
    const stdin = input === undefined ? 'ignore' : 'pipe'
    const child = spawn(program, args, { ...user, env, stdio: [stdin, 'pipe', 'pipe'] })
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
      // Processes that were just killed may still be writing.
      await rm(home, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}
