import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientChannel } from 'ssh2'
import { expect, test } from 'vitest'
import { connect, exec, startInstance } from './instance.ts'

/** A shell on a terminal, with a way to wait for its output. */
async function terminal(columns = 80) {
  const instance = await startInstance()
  const client = await connect(instance)
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.shell({ term: 'xterm-256color', cols: columns, rows: 24 }, (error, opened) =>
      error ? reject(error) : resolve(opened),
    )
  })
  let seen = ''
  let wake: () => void = () => undefined
  channel.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    wake()
  })
  /** Resolves with the output up to and including `text`, and consumes it. */
  const until = async (text: string): Promise<string> => {
    while (!seen.includes(text)) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    const end = seen.indexOf(text) + text.length
    const shown = seen.slice(0, end)
    seen = seen.slice(end)
    return shown
  }
  const workspace = join(instance.files, 'workspace')
  return { channel, until, workspace, type: (text: string) => channel.write(text) }
}

const prompt = '# '

test('a command ends with its status, with output and errors separate', async () => {
  const client = await connect(await startInstance())
  expect(await exec(client, 'foo')).toEqual({ out: '', err: 'bash: foo: command not found\n', status: 127 })
  expect(await exec(client, 'exit 7')).toMatchObject({ status: 7 })
  expect(await exec(client, 'ls nowhere')).toMatchObject({
    err: "ls: cannot access 'nowhere': No such file or directory\n",
    status: 2,
  })
  expect(await exec(client, 'hostname; pwd; python3 --version; false || echo "a  b" && uname')).toEqual({
    out: 'C.4711\n/workspace\nPython 3.11.10\na  b\nLinux\n',
    err: '',
    status: 0,
  })
})

test('braces group commands, with one status and one output', async () => {
  const client = await connect(await startInstance())
  const grouped = '{ echo one && { foo; echo two; }; false; } > said 2>&1 || echo failed; cat said'
  expect(await exec(client, grouped)).toEqual({
    out: 'failed\none\nbash: foo: command not found\ntwo\n',
    err: '',
    status: 0,
  })
  expect(await exec(client, 'true || { echo no; echo no; }; { printf %s "$HOME" | cat; }')).toMatchObject({
    out: '/root',
  })
  expect(await exec(client, '{ echo one; exit 3; }; echo two')).toMatchObject({ out: 'one\n', status: 3 })
  expect(await exec(client, 'echo { }')).toMatchObject({ out: '{ }\n' })
  for (const wrong of ['{ echo one', 'echo one; }', '{ echo one; } two', '{ echo one && }'])
    expect(await exec(client, wrong)).toMatchObject({ out: '', status: 2 })
})

test('nvidia-smi shows every GPU with its load, as a table and as csv', async () => {
  const client = await connect(await startInstance())
  const { out: table } = await exec(client, 'nvidia-smi')
  const lines = table.trimEnd().split('\n')
  expect(new Set(lines.filter(line => line !== '').map(line => line.length))).toEqual(new Set([91]))
  expect(table).toMatch(/NVIDIA RTX 4090/)
  expect(table.match(/63%/g)).toHaveLength(2)
  const query =
    'nvidia-smi --query-gpu=index,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw'
  const plain = await exec(client, `${query} --format=csv,noheader,nounits`)
  expect(plain.out).toMatch(/^0, NVIDIA RTX 4090, 63, \d+, 24564, \d+, \d+\.\d\d\n1, /)
  const headed = await exec(client, 'nvidia-smi --query-gpu=utilization.gpu,memory.total --format=csv')
  expect(headed.out.split('\n').slice(0, 2)).toEqual([
    'utilization.gpu [%], memory.total [MiB]',
    '63 %, 24564 MiB',
  ])
  expect((await exec(client, 'nvidia-smi --query-gpu=soul --format=csv')).status).not.toBe(0)
})

test('jupyter server list shows the token', async () => {
  const client = await connect(await startInstance())
  const { out } = await exec(client, 'jupyter server list --json')
  expect(JSON.parse(out)).toMatchObject({ port: 8080, token: 'secret-token' })
})

test('files are written, read and removed only in the scratch folder', async () => {
  const instance = await startInstance()
  const client = await connect(instance)
  const script =
    'mkdir -p a/b && cd a/b && echo "one $USER" > f && echo two >> f && cat f && tail -n 1 f | cat'
  expect(await exec(client, script)).toEqual({ out: 'one root\ntwo\ntwo\n', err: '', status: 0 })
  expect(readFileSync(join(instance.files, 'workspace/a/b/f'), 'utf8')).toBe('one root\ntwo\n')
  expect(await exec(client, 'cat > typed; cat typed', 'from outside\n')).toMatchObject({
    out: 'from outside\n',
  })
  expect(await exec(client, 'cat ../../../../../../etc/hostname; cat /etc/passwd')).toMatchObject({
    out: '',
    status: 1,
  })
  expect(await exec(client, 'rm -rf a && ls -a')).toMatchObject({ out: '.\n..\ntyped\n' })
})

test('nothing runs on this host: substitutions, jobs and programs are refused', async () => {
  const client = await connect(await startInstance())
  for (const line of ['echo $(id)', 'echo `id`', 'sleep 1 &', 'cat <(id)']) {
    expect(await exec(client, line)).toMatchObject({ out: '', status: 2 })
  }
  expect(await exec(client, '/bin/touch-me; node -e 1')).toMatchObject({ out: '', status: 127 })
})

/** Numbers from 1, one a line. */
const numbers = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('')

test('a million lines arrive complete', async () => {
  const instance = await startInstance()
  const client = await connect(instance)
  const text = numbers(1_000_000)
  writeFileSync(join(instance.files, 'workspace/numbers'), text)
  const { out } = await exec(client, 'cat numbers | cat')
  expect(out === text).toBe(true)
})

test('Ctrl-C ends a command whose output is paused', async () => {
  const { channel, until, type, workspace } = await terminal()
  writeFileSync(join(workspace, 'numbers'), numbers(5_000_000))
  await until(prompt)
  type('cat numbers\r')
  await until('\r\n100\r\n')
  channel.pause()
  type('\x03')
  channel.resume()
  await until('^C\r\n')
  await until(prompt)
  type('echo still $?\r')
  await until('\r\nstill 130\r\n')
})

test('a line is edited as in bash: cursor, backspace, kill, history, split UTF-8', async () => {
  const { channel, until, type } = await terminal()
  await until(prompt)
  type('echx\x7fo ac\x1b[Db\x1b[H\x1b[F!\r')
  await until('\nabc!\r\n')
  type('nonsense\x15echo second\r')
  await until('\nsecond\r\n')
  type('\x1b[A\x1b[A\r')
  await until('\nabc!\r\n')
  const bytes = Buffer.from('echo 日本 😀\r')
  for (const byte of bytes) channel.write(Buffer.from([byte]))
  await until('\n日本 😀\r\n')
})

test('a pasted line of 16 KB is read whole, and typed-ahead commands run in order', async () => {
  const { until, type, workspace } = await terminal(40)
  await until(prompt)
  const long = 'x'.repeat(16_000)
  type(`echo ${long} > long\recho done 1\recho done 2\r`)
  const shown = await until('\ndone 2\r\n')
  expect(readFileSync(join(workspace, 'long'), 'utf8')).toBe(`${long}\n`)
  expect(shown.indexOf('\ndone 1\r\n')).toBeGreaterThan(0)
})

test('Ctrl-D on an empty line logs out with the last status', async () => {
  const { channel, until, type } = await terminal()
  const status = new Promise(resolve => channel.on('exit', resolve))
  await until(prompt)
  channel.setWindow(50, 120, 0, 0)
  type('false\r')
  await until(prompt)
  type('\x04')
  await until('logout')
  expect(await status).toBe(1)
})
