import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { State } from '#shared/state.ts'
import { metricsText, serveMetrics } from '#start/metrics.ts'
import { accountView, byId, emptyState, instanceView } from '../views.ts'

function stateOf(metricsPort = 0): State {
  const account = accountView({ name: 'Lab "A"', credit: 12_500_000, spendPerHour: 400_000 })
  const instance = instanceView({
    label: 'x"} 1\nberth_credit_dollars 0',
    gpuLoad: 97,
    gpu: { name: 'H100', count: 8 },
  })
  const state = emptyState()
  return {
    ...state,
    settings: { ...state.settings, metricsPort },
    accounts: { [account.id]: { ...account, instances: byId([instance]) } },
  }
}

test('has each figure once, and a name from the service is no line of its own', () => {
  const lines = metricsText(stateOf(), Date.now()).trimEnd().split('\n')
  expect(lines).toContain('berth_credit_dollars{account="Lab \\"A\\""} 12.5')
  expect(lines).toContain('# TYPE berth_instance_gpu_load_percent gauge')
  expect(lines.filter(line => line.startsWith('berth_credit_dollars'))).toHaveLength(1)
  for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) berth_\w+ .+|berth_\w+\{.*\} -?[\d.]+)$/)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Asks until something listens; undefined where nothing does. */
function ask(
  port: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string } | undefined> {
  return new Promise(resolve => {
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers }, response => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}

test('is served on the port in the settings, to programs here alone, and ends with the setting', async () => {
  const port = await freePort()
  let state = stateOf()
  let tell: (after: State) => void = () => undefined
  const berth = {
    state: () => state,
    onChange: (listener: (after: State) => void) => {
      tell = listener
      return () => undefined
    },
  }
  const close = serveMetrics(berth, () => undefined)
  onTestFinished(close)
  expect(await ask(port)).toBe(undefined)
  state = stateOf(port)
  tell(state)
  await expect.poll(() => ask(port), { timeout: 20_000 }).toMatchObject({ status: 200 })
  expect(await ask(port, { host: `evil.example:${port}` })).toEqual({ status: 403, text: '' })
  state = stateOf()
  tell(state)
  await expect.poll(() => ask(port), { timeout: 20_000 }).toBe(undefined)
})
