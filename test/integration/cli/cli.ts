import '#test/built.ts'
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { at } from '#build/places.ts'
import type { RunningBerth } from '#core/running.ts'
import { openCommandSocket } from '#start/command-socket.ts'
import type { World } from '#test/berth/world.ts'

/** Exit code and output of one call of the command. */
export interface Called {
  code: number | null
  out: string
  err: string
}

/** Calls the built command on a home folder, as a script does. */
export function berthOn(home: string, options: SpawnOptions = {}, program = at('dist/main/cli.js')) {
  return (...args: string[]): Promise<Called> => ended(begin(home, args, options, program))
}

/** Starts the command and does not wait for its end. */
export function begin(
  home: string,
  args: readonly string[],
  options: SpawnOptions = {},
  program = at('dist/main/cli.js'),
): ChildProcess {
  const env = {
    ...process.env,
    DBUS_SESSION_BUS_ADDRESS: '',
    XDG_RUNTIME_DIR: '',
    ...options.env,
    BERTH_HOME: home,
  }
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
    env,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

export async function ended(child: ChildProcess): Promise<Called> {
  let [out, err] = ['', '']
  child.stdout?.on('data', chunk => {
    out += chunk
  })
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/** Opens the command socket of a Berth in this process; gives its home and the events. */
export async function openSocket(world: World, berth: RunningBerth) {
  const home = join(world.platform.home, 'berth')
  const happened: string[] = []
  const close = await openCommandSocket({
    home,
    berth,
    random: world.platform.random,
    log: line => happened.push(line),
    openPage: () => happened.push('page opened'),
    quit: () => happened.push('quit'),
  })
  onTestFinished(close)
  return { home, happened }
}
