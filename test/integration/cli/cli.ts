import '#test/built.ts'
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect, onTestFinished } from 'vitest'
import { at } from '#build/places.ts'
import { CliError, cliAnswers } from '#cli/answers.ts'
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
  return async (...args: string[]): Promise<Called> => {
    const called = await ended(begin(home, args, options, program))
    if (args.includes('--json')) expectDescribed(args[0] ?? '', called)
    return called
  }
}

/** Every text of JSON is one that `berth --describe` tells of. */
function expectDescribed(command: string, { out, err }: Called): void {
  const schemas = (cliAnswers[command] ?? []).map(({ schema }) => schema)
  for (const text of texts(out)) {
    const issues = schemas.map(schema => v.safeParse(schema, text).issues?.map(issue => v.getDotPath(issue)))
    expect(
      schemas.some(schema => v.is(schema, text)),
      JSON.stringify({ text, issues }),
    ).toBe(true)
  }
  for (const text of err.split('\n').filter(line => line.startsWith('{"error"')))
    expect(v.safeParse(CliError, JSON.parse(text)).issues).toBeUndefined()
}

/** The one text of JSON, or each line's. */
function texts(out: string): unknown[] {
  if (out === '') return []
  try {
    return [JSON.parse(out)]
  } catch {
    return out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  }
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
