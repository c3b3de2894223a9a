import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import type { ClientChannel } from 'ssh2'
import { expect, test } from 'vitest'
import { connect, exec, openSftp, startInstance } from './instance.ts'

test('garbage closes its own connection and no other', async () => {
  const instance = await startInstance()
  const client = await connect(instance)
  const openings = [
    randomBytes(4096),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from('SSH-2.0-x\r\n\xff\xff\xff\xff'),
  ]
  for (const rubbish of [...openings, Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(65_536)])]) {
    const socket = connectSocket(instance.port, instance.host)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const closed = once(socket, 'close')
    socket.end(rubbish)
    socket.resume()
    await closed
  }
  expect(await exec(client, 'whoami')).toMatchObject({ out: 'root\n' })
})

test('clients that leave during transfers and commands do no harm', async () => {
  const instance = await startInstance()
  writeFileSync(join(instance.files, 'workspace/large'), randomBytes(30_000_000))
  for (let time = 0; time < 5; time += 1) {
    const client = await connect(instance)
    const sftp = await openSftp(client)
    sftp.on('error', () => undefined)
    sftp.writeFile('half', randomBytes(3_000_000), () => undefined)
    const channel = await new Promise<ClientChannel>((resolve, reject) =>
      client.exec('cat large', (error, opened) => (error ? reject(error) : resolve(opened))),
    )
    await once(channel, 'data')
    client.destroy()
  }
  expect(await exec(await connect(instance), 'echo here')).toMatchObject({ out: 'here\n' })
})

test('twenty channels of one connection work at once', async () => {
  const client = await connect(await startInstance())
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => exec(client, `nvidia-smi; echo ${index}`)),
  )
  expect(outcomes.map(({ out }) => out.trimEnd().split('\n').at(-1))).toEqual(
    outcomes.map((_, index) => `${index}`),
  )
})

test('X11 is refused, and the client’s environment is ignored', async () => {
  const client = await connect(await startInstance())
  const out = await new Promise<string>((resolve, reject) =>
    client.exec('env', { env: { LD_PRELOAD: '/tmp/evil.so' } }, (error, channel) => {
      if (error) {
        reject(error)
        return
      }
      let text = ''
      channel.on('data', (bytes: Buffer) => {
        text += bytes
      })
      channel.on('close', () => resolve(text))
    }),
  )
  const x11 = new Promise((resolve, reject) =>
    client.exec('true', { x11: true }, error => (error ? reject(error) : resolve(undefined))),
  )
  await expect(x11).rejects.toThrow(/X11/)
  expect(out).toContain('USER=root')
  expect(out).not.toContain('LD_PRELOAD')
})

test('close ends all connections, silent ones too, and frees the port', async () => {
  const instance = await startInstance()
  const client = await connect(instance)
  const silent = connectSocket(instance.port, instance.host)
  await once(silent, 'connect')
  const running = exec(client, 'sleep 1000').catch(() => undefined)
  const closed = Promise.all([once(client, 'close'), once(silent.resume(), 'close')])
  await instance.close()
  await closed
  await running
  const again = await startInstance({ port: instance.port })
  expect(again.port).toBe(instance.port)
})

test('a port that is taken fails with EADDRINUSE', async () => {
  const instance = await startInstance()
  await expect(startInstance({ port: instance.port })).rejects.toThrow(/EADDRINUSE/)
})
