import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BuiltFiles } from '#browser/page-files.ts'
import { openPageServer, type PageServer } from '#browser/page-server.ts'
import type { BrowserDownload, ByteSink } from '#platform/folders.ts'

let folder = ''
let server: PageServer
const printed = () => new URL(server.address)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-page-'))
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Berth</title>')
  server = await openPageServer(new BuiltFiles(folder), 0)
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

interface Answer {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  body: string
  whole: boolean
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const to = { host: '127.0.0.1', port: printed().port, path, method }
    const asked = request({ ...to, headers: { host: printed().host, ...headers } }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', chunk => {
        body += chunk
      })
      response.on('error', () => undefined)
      response.on('close', () =>
        resolve({ status: response.statusCode, headers: response.headers, body, whole: response.complete }),
      )
    })
    asked.on('error', reject)
    asked.end()
  })
}

function offer(serve: (sink: ByteSink) => void, more: Partial<BrowserDownload> = {}): string {
  return server.downloads.offer({ name: 'a.txt', serve, unused: () => undefined, ...more })
}

const hello = (sink: ByteSink) => void sink.write(Buffer.from('hello')).then(() => sink.end())

test('an address gives its download once, as a file to be saved', async () => {
  const address = offer(hello, { name: 'it\'s "é".txt', size: 5 })
  expect(address).toMatch(/^\/download\/[\w-]{43}$/)
  const first = await get(address, { 'sec-fetch-site': 'same-origin' })
  expect(first).toMatchObject({ status: 200, body: 'hello', whole: true })
  expect(first.headers).toMatchObject({
    'content-disposition': `attachment; filename="it's ___.txt"; filename*=UTF-8''it%27s%20%22%C3%A9%22.txt`,
    'content-type': 'application/octet-stream',
    'content-length': '5',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  expect((await get(address)).status).toBe(404)
})

test('a foreign site, host or method and a guessed address are refused', async () => {
  let served = false
  const address = offer(() => {
    served = true
  })
  expect((await get(address, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await get(address, { 'sec-fetch-site': 'none' })).status).toBe(403)
  expect((await get(address, { host: 'evil.example' })).status).toBe(403)
  expect((await get(address, {}, 'POST')).status).toBe(405)
  expect((await get(address, {}, 'HEAD')).status).toBe(405)
  expect((await get('/download/')).status).toBe(404)
  expect((await get(`/download/${'A'.repeat(43)}`)).status).toBe(404)
  expect(served).toBe(false)
})

test('an aborted download arrives as incomplete', async () => {
  const address = offer(sink => void sink.write(Buffer.from('half')).then(() => sink.abort()))
  expect((await get(address)).whole).toBe(false)
})

test('backpressure holds the sender, which hears when the browser leaves', async () => {
  const left = new Promise<number>(resolve => {
    const path = offer(async sink => {
      let sent = 0
      sink.onLeave = () => resolve(sent)
      const piece = Buffer.alloc(1024 * 1024)
      for (let at = 0; at < 1000; at++) {
        if (
          await sink.write(piece).then(
            () => false,
            () => true,
          )
        )
          return
        sent += piece.length
      }
    })
    const { host, port } = printed()
    const asked = request({ host: '127.0.0.1', port, path, headers: { host } }, response => {
      response.pause()
      setTimeout(() => asked.destroy(), 200)
    })
    asked.on('error', () => undefined)
    asked.end()
  })
  expect(await left).toBeLessThan(100 * 1024 * 1024)
})
