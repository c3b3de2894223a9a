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

/** The status messages over the next ten minutes, without repetitions. */
async function story(id: number): Promise<string[]> {
  const lines: string[] = []
  for (let step = 0; step < 60; step++) {
    const now = await line(id)
    if (lines.at(-1) !== now) lines.push(now)
    await service.sim.controls.advance(10)
  }
  return lines
}

test('both instances show the progress of a copy, 30 seconds late', async () => {
  const [a, b] = await pair()
  const before = await line(b)
  expect(await copy(a, b)).toMatchObject({ status: 200, body: { success: true, msg: expect.any(String) } })
  await service.sim.controls.advance(29)
  expect(await line(b)).toBe(before)
  await service.sim.controls.advance(2)
  expect(await line(b)).toMatch(new RegExp(`^Copy of C.${a}:/workspace/a to C.${b}:/workspace/b: [01] %$`))
  expect(await line(a)).toBe(await line(b))
  const lines = await story(b)
  const shares = lines.map(text => Number(/(\d+) %$/.exec(text)?.[1] ?? 100))
  expect(shares).toEqual(shares.toSorted((x, y) => x - y))
  expect(shares.length).toBeGreaterThan(5)
  expect(lines.at(-1)).toMatch(/: done$/)
  await service.sim.controls.advance(900)
  expect(await line(b)).toBe(before)
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

test('a cancelled copy stays cancelled, and cancelling none is no error', async () => {
  const [a, b] = await pair()
  const cancel = () => service.call('DELETE', copyPath, { client_id: 'me', dst_id: String(b) })
  expect(await cancel()).toMatchObject({ status: 200, body: { success: true } })
  await copy(a, b)
  await service.sim.controls.advance(40)
  expect(await cancel()).toMatchObject({ status: 200, body: { success: true } })
  expect((await story(b)).at(-1)).toMatch(/: cancelled$/)
})

test('a transfer fails when its instance stops running', async () => {
  const [a, b] = await pair()
  await copy(a, b)
  await service.sim.controls.advance(20)
  await service.call('PUT', `/api/v0/instances/${a}/`, { state: 'stopped' })
  await service.sim.controls.advance(40)
  expect(await line(b)).toMatch(/: failed/)
})

test('wrong copies are refused as section 4.3 says', async () => {
  const [a, b] = await pair()
  const invalid = { status: 400, body: { success: false, error: 'invalid_args', msg: expect.any(String) } }
  const missing = { status: 404, body: { error: 'no_such_user' } }
  expect(await service.call('PUT', copyPath, { src_id: String(a), dst_id: String(b) })).toMatchObject(invalid)
  expect(await copy(a, b, '')).toMatchObject(invalid)
  expect(await service.call('PUT', copyPath, { src_path: '/a', dst_path: '/b', dst_id: b })).toMatchObject(
    invalid,
  )
  expect(await copy(a, 1)).toMatchObject(missing)
  expect(await copy(1, b)).toMatchObject(missing)
  expect(await service.call('DELETE', copyPath, {})).toMatchObject(invalid)
  expect(await service.call('DELETE', copyPath, { dst_id: 'x' })).toMatchObject(invalid)
  expect(await service.call('DELETE', copyPath, { dst_id: '1' })).toMatchObject(missing)
  await service.call('PUT', `/api/v0/instances/${a}/`, { state: 'stopped' })
  expect(await copy(a, b)).toMatchObject(invalid)
})

test('a cloud sync runs, is cancelled, and begins anew when it is started again', async () => {
  const [id] = await pair()
  const started = { success: true, msg: expect.any(String), result_url: expect.stringMatching(/^https:/) }
  expect(await sync(id)).toMatchObject({ status: 200, body: started })
  await service.sim.controls.advance(60)
  expect(await line(id)).toMatch(/^Cloud sync of C\.\d+:\/workspace\/a to cloud:\/bucket\/a: \d+ %$/)
  const cancelled = await service.call('DELETE', syncPath, { client_id: 'me', dst_id: id })
  expect(cancelled).toMatchObject({
    status: 200,
    body: { success: true, msg: expect.stringMatching(/resumed/) },
  })
  await service.sim.controls.advance(31)
  expect(await line(id)).toMatch(/: cancelled$/)
  await sync(id, { transfer: 'Cloud To Instance', src: '/bucket/a', dst: '/workspace/a' })
  await service.sim.controls.advance(31)
  expect(await line(id)).toMatch(/^Cloud sync of cloud:\/bucket\/a to C\.\d+:\/workspace\/a: [01] %$/)
})

test('wrong syncs are refused as section 4.3 says', async () => {
  const [id] = await pair()
  for (const more of [
    { instance_id: id },
    { instance_id: '1' },
    { src: '' },
    { dst: 5 },
    { selected: 12 },
    { transfer: 'Cloud To Cloud' },
    { flags: '--checksum' },
    { api_key: 5 },
  ]) {
    const { status, body } = await sync(id, more)
    expect([status, body], JSON.stringify(more)).toEqual([400, { success: false, msg: expect.any(String) }])
  }
  const cancel = (body: unknown) => service.call('DELETE', syncPath, body)
  expect(await cancel({})).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  expect(await cancel({ dst_id: String(id) })).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  expect(await cancel({ dst_id: 1 })).toMatchObject({ status: 404, body: { error: 'no_such_instance' } })
})

test('starting and cancelling a copy have a threshold of 3.5 each', async () => {
  const limited = await startService({ limits: true })
  try {
    for (const method of ['PUT', 'DELETE']) {
      const burst = await Promise.all(Array.from({ length: 9 }, () => limited.call(method, copyPath, {})))
      expect(burst.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(3)
      expect(burst.find(({ status }) => status === 429)?.body['detail']).toMatch(/threshold=3\.5/)
    }
  } finally {
    await limited.sim.close()
  }
})
