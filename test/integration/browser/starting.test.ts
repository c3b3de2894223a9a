import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { at } from '#build/places.ts'
import '#test/built.ts'
import { lacks, root } from '#test/needs.ts'
import { joinBerth } from '#test/page-client.ts'

const sources = at('.')
const nobody = 65_534
let folder = ''
const running = new Set<ChildProcess>()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-start-'))
})
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

const home = () => join(folder, 'home')

interface Started {
  child: ChildProcess
  address: URL
  /** Sends the signal; gives the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

function run(...args: string[]): {
  child: ChildProcess
  ended: Promise<{ code: number | null; said: string }>
} {
  const child = spawn(process.execPath, ['dist/main/browser.js', '--browser', '--no-open', ...args], {
    cwd: sources,
    env: {
      ...process.env,
      BERTH_HOME: home(),
      NODE_OPTIONS: existsSync(join(folder, 'first.mjs')) ? `--import=${join(folder, 'first.mjs')}` : '',
      TMPDIR: existsSync(join(folder, 'tmp')) ? join(folder, 'tmp') : folder,
      DBUS_SESSION_BUS_ADDRESS: '',
      XDG_RUNTIME_DIR: '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let said = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  child.stderr.on('data', chunk => {
    said += chunk
  })
  return { child, ended: once(child, 'close').then(([code]) => ({ code, said })) }
}

async function start(...args: string[]): Promise<Started> {
  const { child, ended } = run(...args)
  if (!child.stdout) throw new Error('no output')
  const first = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line))
  const line = await Promise.race([first, ended.then(({ said }) => said)])
  const address = /^Berth is ready at (http:\/\/berth-[0-9a-f]{20}\.localhost:\d+\/#[\w-]{43})$/.exec(
    line,
  )?.[1]
  if (address === undefined) throw new Error(`it said: ${line}`)
  return {
    child,
    address: new URL(address),
    async stop(signal) {
      child.kill(signal)
      const { code } = await ended
      return code
    },
  }
}

async function firstState(address: URL) {
  const socket = await joinBerth(address)
  socket.send(JSON.stringify({ kind: 'sync' }))
  const [data] = await once(socket, 'message')
  return { socket, state: JSON.parse(String(data)).state }
}

test('without an account or --demo, Berth starts with no account', async () => {
  const berth = await start()
  const { socket, state } = await firstState(berth.address)
  expect(state.accounts).toEqual({})
  socket.close()
  expect(await berth.stop('SIGTERM')).toBe(0)
})

test('with --demo Berth shows the demo, and ends in order while a page is connected', async () => {
  const berth = await start('--demo')
  const { socket, state } = await firstState(berth.address)
  expect(state.shown).toBe('demo')
  expect(state.accounts.demo).toMatchObject({ demo: true })
  const closed = once(socket, 'close')
  expect(await berth.stop('SIGTERM')).toBe(0)
  // The page learns that Berth ends.
  expect(await closed).toMatchObject([1001, expect.anything()])
  // The folders of the demo and the simulator are deleted.
  expect(await readdir(folder)).toEqual(['home'])
  expect(await readdir(home())).not.toContain('demo')
})

test('a start deletes a killed demo’s files, and follows no links', async () => {
  const first = await start()
  expect((await stat(join(home(), 'demo'))).mode & 0o777).toBe(0o700)
  await first.stop('SIGKILL')
  const mine = join(folder, 'mine')
  await mkdir(mine)
  await writeFile(join(mine, 'thesis.txt'), 'three years')
  await symlink(mine, join(home(), 'demo', 'instances'))
  await symlink(mine, join(home(), 'demo', 'link'))
  const second = await start()
  expect(await readdir(join(home(), 'demo'))).not.toContain('link')
  expect(await second.stop('SIGTERM')).toBe(0)
  expect(await readdir(home())).not.toContain('demo')
  expect(await readFile(join(mine, 'thesis.txt'), 'utf8')).toBe('three years')
})

test('other files in the temporary folder stay', async context => {
  if (lacks(root) !== '') return context.skip(lacks(root))
  // As the system's own: everyone may write there, and remove their own files.
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  await chmod(temporary, 0o1777)
  await chmod(folder, 0o755)
  const mine = join(folder, 'mine')
  await mkdir(mine)
  await writeFile(join(mine, 'thesis.txt'), 'three years')
  const planted = ['berth-demo-4194305-1-abcdef', 'berth-demo-4194305---ghijkl', 'berth-simulator-abcdef']
  const script = planted
    .map(name => `mkdir ${name} && ln -s ${mine} ${name}/link && touch ${name}/file`)
    .join(' && ')
  const other = spawn('sh', ['-c', script], { cwd: temporary, uid: nobody, gid: nobody, stdio: 'inherit' })
  expect(await once(other, 'exit')).toEqual([0, null])

  const berth = await start()
  expect(await berth.stop('SIGTERM')).toBe(0)
  expect((await readdir(temporary)).toSorted()).toEqual(planted.toSorted())
  for (const name of planted)
    expect((await readdir(join(temporary, name))).toSorted()).toEqual(['file', 'link'])
  expect(await readFile(join(mine, 'thesis.txt'), 'utf8')).toBe('three years')
})

test.each(['SIGINT', 'SIGHUP'] as const)('%s ends Berth in order too', async signal => {
  const berth = await start()
  expect(await berth.stop(signal)).toBe(0)
})

test('stored files are readable by the user only, and do not hold the token', async () => {
  const berth = await start()
  const entries = await readdir(home(), { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    expect((await stat(path)).mode & 0o077, path).toBe(0)
    if (entry.isFile()) expect(await readFile(path, 'utf8')).not.toContain(berth.address.hash.slice(1))
  }
  await berth.stop('SIGTERM')
})

test('each run has a new origin and token, and stores neither', async () => {
  const first = await start()
  await first.stop('SIGTERM')
  const second = await start()
  await second.stop('SIGTERM')
  expect(second.address.hostname).not.toBe(first.address.hostname)
  expect(second.address.hash).not.toBe(first.address.hash)
  expect(await readdir(home())).not.toContain('browser-ports.json')
})

test('a second Berth on the same folder says so and ends; after a kill the next one starts', async () => {
  const first = await start()
  const second = run()
  expect(await second.ended).toMatchObject({
    code: 1,
    said: expect.stringContaining(`already running with this folder (process ${first.child.pid})`),
  })
  await first.stop('SIGKILL')
  const third = await start()
  expect(await third.stop('SIGTERM')).toBe(0)
})

test('a start that fails after the page is served says why and exits with 1', async () => {
  const load = `export async function load(url, context, next) {
    if (/parts.berth-[^/]*$/.test(url)) throw new Error('the core is damaged')
    return next(url, context)
  }`
  const hook = `data:text/javascript,${encodeURIComponent(load)}`
  await writeFile(
    join(folder, 'first.mjs'),
    `import { register } from 'node:module'\nregister(${JSON.stringify(hook)})`,
  )
  expect(await run().ended).toMatchObject({
    code: 1,
    said: expect.stringMatching(
      /^Berth is ready at .*\n(.*\n)?Berth could not start\. .*the core is damaged/,
    ),
  })
  expect(await readdir(home())).toEqual(['logs'])
})

test('SIGTERM right after the start ends Berth in order, with no folder left behind', async () => {
  const berth = await start('--demo')
  expect(await berth.stop('SIGTERM')).toBe(0)
  expect(await readdir(folder)).toEqual(['home'])
  expect(await readdir(home())).not.toContain('demo')
})

test('an unknown flag is named in the message, with the usage', async () => {
  const { code, said } = await run('--colour').ended
  expect(code).toBe(2)
  expect(said).toContain('--colour')
  expect(said).toContain('--no-open')
})

test('a port that is taken is named in the message', async () => {
  const blocker = createServer()
  blocker.listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const address = blocker.address()
  const port = typeof address === 'object' && address ? address.port : 0
  expect(await run('--port', String(port)).ended).toEqual({
    code: 1,
    said: `Port ${port} is taken. Choose another with --port, or 0 for any.\n`,
  })
  blocker.close()
})
