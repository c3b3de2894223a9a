import { type Duplex, PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { offeredPorts, publishedPorts, rentedPorts } from '#core/access/port-tunnel.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'

test('the rented ports are those mapped or requested, except SSH and UDP', () => {
  const ports = {
    '22/tcp': [{ HostPort: '40001' }],
    '8188/tcp': [{ HostPort: '40002' }],
    '53/udp': [{ HostPort: '40003' }],
    'x/tcp': [{ HostPort: '40004' }],
  }
  const extra_env: [string, string][] = [
    ['-p 7860:7860', '1'],
    ['-p 8188:8188', '1'],
    ['-p 99999:99999', '1'],
    ['NAME', '-p 1:1'],
  ]
  expect(rentedPorts({ ports, extra_env })).toEqual([7860, 8188])
  expect(rentedPorts({})).toEqual([])
  expect(rentedPorts({ extra_env }, [3000, 22, 7860])).toEqual([3000, 7860, 8188])
})

test.each<[env: string, ports: number[]]>([
  ['', []],
  ['-p 8188:8188 -p 7860:7860/tcp -p 53:53/udp', [8188, 7860]],
  ['-p 127.0.0.1:1000:6006 --publish=8000 --publish 5000:5000 -p9090:9090', [6006, 8000, 5000, 9090]],
  [`-e NAME="-p 1:1" -e '-p 2:2' --env OTHER=x -p "3000:3000"`, [3000]],
  ['-e -p -p 8501:8501', [8501]],
  ['-p', []],
  ['-p 9000-9002:9000-9002 -p x --port 4:4 -p 70001:70001', [9000, 9001, 9002, 70_001]],
  [`-e A="x -p 1:1 -p 2:2`, []],
])('a template with %j publishes %j', (env, ports) => {
  expect(publishedPorts(env)).toEqual(ports)
})

test('a connection lost while ports are probed is reported as ssh_closed', async () => {
  const forwardOut = (...args: unknown[]) =>
    (args.at(-1) as (error: Error) => void)(new Error('Not connected'))
  const connection = { client: { forwardOut }, address: { host: '1.2.3.4', port: 22 } }
  await expect(offeredPorts({ connection } as unknown as SharedConnection, [8080])).rejects.toMatchObject({
    problem: { code: 'ssh_closed' },
  })
})

test('a web interface behind its image’s login is also offered where it has none', async () => {
  const listening = new Set([8188, 18188, 18080])
  const connection = {
    client: {
      forwardOut(
        ...[, , , port, done]: [string, number, string, number, (error?: Error, to?: Duplex) => void]
      ) {
        if (listening.has(port)) done(undefined, new PassThrough())
        else done(Object.assign(new Error('refused'), { reason: 2 }))
      },
    },
  }
  expect(await offeredPorts({ connection } as unknown as SharedConnection, [8080])).toEqual([
    { port: 8080, name: 'Jupyter', answers: false },
    { port: 8188, name: 'ComfyUI', answers: true },
    { port: 18188, name: 'ComfyUI without login', answers: true },
  ])
})
