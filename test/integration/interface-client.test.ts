import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

// interface 9: Every path has the prefix `/api/v0/`
test('a client that knows the interface alone, in another language, drives the simulator through all of it', async () => {
  const simulator = spawn(
    process.execPath,
    ['--import', 'tsx', 'simulator/main.ts', '--port', '0', '--speed', '1', '--calm'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  children.push(simulator)
  const [line] = (await once(createInterface(simulator.stdout), 'line')) as [string]

  const client = spawn('python3', ['-B', 'test/integration/interface_client.py'])
  children.push(client)
  const said = { out: '', err: '' }
  client.stdout.on('data', chunk => {
    said.out += chunk
  })
  client.stderr.on('data', chunk => {
    said.err += chunk
  })
  client.stdin.end(`${line}\n`)
  const [status] = (await once(client, 'close')) as [number | null]
  expect(status, said.err).toBe(0)
  const summary = JSON.parse(said.out) as { operations: number; codes: string[] }
  expect(summary.operations).toBe(37)
  expect(summary.codes.length).toBeGreaterThanOrEqual(37)
}, 120_000)
