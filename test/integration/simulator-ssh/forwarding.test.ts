import { Agent, get, type IncomingMessage } from 'node:http'
import type { Client, ClientChannel } from 'ssh2'
import { expect, test } from 'vitest'
import { connect, startInstance } from './instance.ts'

function forward(client: Client, host: string, port: number): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 50_000, host, port, (error, channel) =>
      error ? reject(error) : resolve(channel),
    )
  })
}

/** Fetches a page of the instance's Jupyter through the connection. */
async function page(client: Client, path: string, headers: Record<string, string> = {}) {
  const channel = await forward(client, '127.0.0.1', 8080)
  const agent = new Agent()
  agent.createConnection = () => channel as never
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ path, headers, agent }, resolve).on('error', reject)
  })
  let body = ''
  for await (const piece of response.setEncoding('utf8')) body += piece
  return { status: response.statusCode, body, cookie: response.headers['set-cookie']?.[0]?.split(';')[0] }
}

test('Jupyter shows its version to all, and its pages only with the token', async () => {
  const client = await connect(await startInstance())
  expect(JSON.parse((await page(client, '/api')).body)).toHaveProperty('version')
  for (const path of ['/', '/lab', '/tree']) {
    expect(await page(client, path)).toMatchObject({ status: 403 })
    expect(await page(client, `${path}?token=wrong`)).toMatchObject({ status: 403 })
    const { status, body } = await page(client, `${path}?token=secret-token`)
    expect(status).toBe(200)
    expect(body).toMatch(/<title>Jupyter[^<]*C\.4711/)
  }
  expect(await page(client, '/lab', { authorization: 'token secret-token' })).toMatchObject({ status: 200 })
  const { cookie = '' } = await page(client, '/?token=secret-token')
  expect(await page(client, '/tree', { cookie })).toMatchObject({ status: 200 })
})

test('an instance without a token refuses all Jupyter pages', async () => {
  const client = await connect(await startInstance({ jupyterToken: '' }))
  expect(await page(client, '/lab?token=')).toMatchObject({ status: 403 })
})

test('other addresses and remote forwarding are refused', async () => {
  const instance = await startInstance()
  const client = await connect(instance)
  for (const [host, port] of [
    ['127.0.0.1', instance.port],
    ['127.0.0.1', 22],
    ['example.org', 8080],
    ['10.0.0.1', 8080],
  ] as const) {
    await expect(forward(client, host, port)).rejects.toThrow(/channel open failure/i)
  }
  await expect(
    new Promise((resolve, reject) =>
      client.forwardIn('127.0.0.1', 0, error => (error ? reject(error) : resolve(0))),
    ),
  ).rejects.toThrow()
})
