import { NodeSSH } from 'node-ssh'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '#test/new-key.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const copyPath = '/api/v0/commands/copy_direct/'
const syncPath = '/api/v0/commands/rclone/'
const key = newKey()

const rent = async () => (await service.rent({ runtype: 'ssh' })).id
async function pair() {
  const ids = [await rent(), await rent()] as const
  await service.sim.controls.advance(300)
  return ids
}
const copy = (src: number | null, dst: number | null, from = '/workspace/a', to = '/workspace/b') =>
  service.call('PUT', copyPath, {
    client_id: 'me',
    ...(src === null ? {} : { src_id: String(src) }),
    ...(dst === null ? {} : { dst_id: String(dst) }),
    src_path: from,
    dst_path: to,
  })
const sync = (id: number, more: Record<string, unknown> = {}) =>
  service.call('POST', syncPath, {
    instance_id: String(id),
    ...{ src: '/workspace/a', dst: '/bucket/a', selected: '12', transfer: 'Instance To Cloud' },
    flags: ['--checksum'],
    api_key: 'a key',
    ...more,
  })
const line = async (id: number) => (await service.instance(id))['status_msg'] as string

test('both instances show the progress of a copy, 30 seconds late', async () => {
  const [a, b] = await pair()
  const before = await line(b)
  await copy(a, b)
  await service.sim.controls.advance(29)
  expect(await line(b)).toBe(before)
  await service.sim.controls.advance(2)
  expect(await line(b)).toMatch(new RegExp(`^Copy of C.${a}:/workspace/a to C.${b}:/workspace/b: [01] %$`))
  expect(await line(a)).toBe(await line(b))
})

test('a finished copy has the bytes of files and folders', async () => {
  await service.call('POST', '/api/v0/ssh/', { ssh_key: key.public })
  const [a, b] = await pair()
  const shell = async (id: number, command: string) => {
    const ssh = new NodeSSH()
    const port = (await service.instance(id))['ssh_port'] as number
    await ssh.connect({ host: '127.0.0.1', port, username: 'root', privateKey: key.private })
    try {
      return (await ssh.execCommand(command)).stdout
    } finally {
      ssh.dispose()
    }
  }
  await shell(a, 'mkdir -p /workspace/run/logs')
  await shell(a, 'echo weights > /workspace/run/model.bin')
  await shell(a, 'echo loss > /workspace/run/logs/train.txt')
  await copy(a, b, '/workspace/run', '/workspace/')
  await service.sim.controls.advance(240)
  expect(await shell(b, 'cat /workspace/run/model.bin')).toBe('weights')
  await copy(b, a, '/workspace/run/logs/', '/root/deep/logs')
  await copy(a, a, '/workspace/run', '/workspace/run/inside')
  await service.sim.controls.advance(240)
  expect(await shell(a, 'cat /root/deep/logs/train.txt')).toBe('loss')
  expect(await shell(a, 'ls /workspace/run')).toBe('logs\nmodel.bin')
})

test('one side of a copy may be the caller’s own machine, but not both', async () => {
  const [a, b] = await pair()
  expect((await copy(null, b)).status).toBe(200)
  expect((await copy(a, null)).status).toBe(200)
  expect(await copy(null, null)).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
})

test('wrong copies are refused as section 4.3 says', async () => {
  const [a, b] = await pair()
  const invalid = { status: 400, body: { success: false, error: 'invalid_args', msg: expect.any(String) } }
  const missing = { status: 404, body: { error: 'no_such_user' } }
  expect(await service.call('PUT', copyPath, { src_id: String(a), dst_id: String(b) })).toMatchObject(invalid)
  expect(await copy(a, b, '')).toMatchObject(invalid)
  expect(await copy(a, 1)).toMatchObject(missing)
  expect(await copy(1, b)).toMatchObject(missing)
  expect(await service.call('DELETE', copyPath, {})).toMatchObject(invalid)
  expect(await service.call('DELETE', copyPath, { dst_id: 'x' })).toMatchObject(invalid)
  expect(await service.call('DELETE', copyPath, { dst_id: '1' })).toMatchObject(missing)
  // Cancelling none is no error.
  expect((await service.call('DELETE', copyPath, { dst_id: String(b) })).status).toBe(200)
  await service.call('PUT', `/api/v0/instances/${a}/`, { state: 'stopped' })
  expect(await copy(a, b)).toMatchObject(invalid)
})

test('wrong syncs are refused as section 4.3 says', async () => {
  const [id] = await pair()
  for (const more of [{ instance_id: '1' }, { src: '' }, { transfer: 'Cloud To Cloud' }]) {
    const { status, body } = await sync(id, more)
    expect([status, body], JSON.stringify(more)).toEqual([400, { success: false, msg: expect.any(String) }])
  }
  const cancel = (body: unknown) => service.call('DELETE', syncPath, body)
  expect(await cancel({})).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  expect(await cancel({ dst_id: 1 })).toMatchObject({ status: 404, body: { error: 'no_such_instance' } })
})
