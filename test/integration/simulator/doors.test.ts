import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodeSSH } from 'node-ssh'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
let folder: string
let privateKey: string
let publicKey: string

beforeAll(async () => {
  service = await startService()
  folder = mkdtempSync(join(tmpdir(), 'berth-doors-'))
  const make = (name: string) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'me', '-f', join(folder, name)])
    return readFileSync(join(folder, name), 'utf8')
  }
  privateKey = make('mine')
  publicKey = readFileSync(join(folder, 'mine.pub'), 'utf8')
})
afterAll(async () => {
  await service.sim.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

async function says(port: number, command: string): Promise<string> {
  const ssh = new NodeSSH()
  await ssh.connect({ host: '127.0.0.1', port, username: 'root', privateKey })
  try {
    return (await ssh.execCommand(command)).stdout
  } finally {
    ssh.dispose()
  }
}

async function answers(port: number): Promise<boolean> {
  return await new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

test.each([{}, { ssh_key: '' }, { ssh_key: 'nonsense' }, { ssh_key: 'ssh-ed25519 AAAA' }])(
  'attaching %j is refused',
  async body => {
    const { id } = await service.rent()
    const answer = await service.call('POST', `/api/v0/instances/${id}/ssh/`, body)
    expect(answer).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
  },
)

test('a container has its variables and its own key, which stops it', async () => {
  const made = await service.call('POST', '/api/v0/template/', {
    name: 'with variables',
    image: 'ubuntu',
    env: '-e MODEL=small -e QUOTED="a b" -p 8081:8081',
    docker_login_repo: '',
    docker_login_user: '',
    docker_login_pass: '',
  })
  const { hash_id } = made.body['template'] as Record<string, unknown>
  const { id, key } = await service.rent({
    template_hash_id: hash_id,
    env: { MODEL: 'large', WORKERS: 4, '-p 8080:8080': '1', CONTAINER_API_KEY: 'mine' },
  })
  await service.call('POST', `/api/v0/instances/${id}/ssh/`, { ssh_key: publicKey })
  await service.sim.controls.advance(300)
  const port = (await service.instance(id))['ssh_port'] as number
  expect(await says(port, 'echo $MODEL $QUOTED $WORKERS')).toBe('large a b 4')
  const lines = (await says(port, 'env')).split('\n')
  expect(lines).toContain('QUOTED=a b')
  expect(lines.filter(line => !/^[A-Z_]+=/.test(line))).toEqual([])
  const own = await says(port, 'echo $CONTAINER_API_KEY')
  expect(own).toBe(key)
  const stopped = await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' }, own)
  expect(stopped.status).toBe(200)
})

test('the SSH port answers only while running, and is the same after a restart', async () => {
  const { id } = await service.rent()
  const port = (await service.instance(id))['ssh_port'] as number
  expect(port).toBeGreaterThan(0)
  expect(await answers(port)).toBe(false)
  await service.sim.controls.advance(300)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running', ssh_port: port })
  expect(await answers(port)).toBe(true)
  for (const status of ['exited', 'offline', 'unknown']) {
    await service.sim.controls.forceStatus(id, status)
    expect(await answers(port), status).toBe(false)
    await service.sim.controls.forceStatus(id, 'running')
    expect(await answers(port), status).toBe(true)
  }
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' })
  await service.instance(id)
  expect(await answers(port)).toBe(false)
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
  await service.sim.controls.advance(60)
  expect(await service.instance(id)).toMatchObject({ ssh_port: port })
  expect(await answers(port)).toBe(true)
  await service.call('DELETE', `/api/v0/instances/${id}/`)
  await service.call('GET', '/api/v0/instances/')
  expect(await answers(port)).toBe(false)
})

test('the account’s SSH keys work on instances created afterwards', async () => {
  const other = await startService()
  try {
    const added = await other.call('POST', '/api/v0/ssh/', { ssh_key: publicKey })
    expect(added).toMatchObject({ status: 200, body: { success: true, key: { ssh_key: publicKey.trim() } } })
    const listed = await other.call('GET', '/api/v0/ssh/')
    expect(listed.body['ssh_keys']).toMatchObject([{ ssh_key: publicKey.trim(), user_id: other.sim.userId }])
    expect((await other.call('POST', '/api/v0/ssh/', { ssh_key: 'x' })).status).toBe(400)
    const { id } = await other.rent()
    await other.sim.controls.advance(300)
    expect(await says((await other.instance(id))['ssh_port'] as number, 'echo in')).toBe('in')
  } finally {
    await other.sim.close()
  }
})

test('closing the simulator closes its SSH and HTTP ports before it resolves', async () => {
  const other = await startService()
  const { id } = await other.rent()
  await other.sim.controls.advance(300)
  const port = (await other.instance(id))['ssh_port'] as number
  expect(await answers(port)).toBe(true)
  await other.sim.close()
  await other.sim.close()
  expect(await answers(port)).toBe(false)
  await expect(fetch(other.sim.baseUrl)).rejects.toThrow()
})
