import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { hasPage, jupyterAddress, likeliestFirst, readJupyterList } from '#ssh/tunnels/jupyter.ts'

const one = { port: 8888, token: 'abc', basePath: '/' }

test.each([
  ['an object a line', '{"base_url": "/", "port": 8888, "token": "abc"}\n'],
  ['a list', '[\n {"base_url": "/", "port": 8888, "token": "abc"}\n]\n'],
  ['an address a line', 'Currently running servers:\nhttp://localhost:8888/?token=abc :: /workspace\n'],
  ['something said before it', 'warning: old\n{"port": 8888, "token": "abc"}\n'],
])('%s is read', (_, text) => {
  expect(readJupyterList(text)).toEqual([one])
})

test('the process of a server is read where it is listed', () => {
  expect(readJupyterList('{"port": 8888, "token": "abc", "pid": 3}')).toEqual([{ ...one, pid: 3 }])
  expect(readJupyterList('{"port": 8888, "token": "abc", "pid": null}')).toEqual([one])
})

test.each([
  '',
  'Currently running servers:\n',
  '{"port": 0}',
  '{"port": 70000}',
  '{"port": "8888; rm -rf"}',
  '{"port": 8888, "token": "a b"}',
  '{"port": 8888, "base_url": "//evil.example/"}',
  '{"port": 8888, "base_url": "/../\\u202e/"}',
  'null',
  '[[[[',
])('%j lists no servers', text => {
  expect(readJupyterList(text)).toEqual([])
})

test('servers at the usual port are tried first, and newer ones before older ones', () => {
  const at = (port: number, token: string, pid?: number) => ({ port, token, basePath: '/', pid })
  const order = (...list: ReturnType<typeof at>[]) => likeliestFirst(list, 8080).map(({ token }) => token)
  expect(order(at(8888, 'a'), at(8080, 'old'), at(8080, 'new'), at(18080, 'b'))).toEqual([
    'new',
    'old',
    'b',
    'a',
  ])
  expect(order(at(8888, 'new', 900), at(8889, 'old', 12))).toEqual(['new', 'old'])
  expect(order()).toEqual([])
})

test('the address keeps its origin and carries the token as an escaped value', () => {
  const server = { token: 'a&b=#?', basePath: '/user/x/' }
  const address = new URL(jupyterAddress('http://127.0.0.1:20001', server))
  expect(address.origin).toBe('http://127.0.0.1:20001')
  expect(address.pathname).toBe('/user/x/')
  expect(Object.fromEntries(address.searchParams)).toEqual({ token: 'a&b=#?' })
  expect(jupyterAddress('http://127.0.0.1:1', { token: '', basePath: '/x/' }, 'lab')).toBe(
    'http://127.0.0.1:1/x/lab',
  )
})

test('hasPage asks below the base path with the token whether Jupyter has a page', async () => {
  const server = createServer(({ url, headers }, response) => {
    const known = url === '/user/x/tree' && headers.authorization === 'token s3cret'
    response.writeHead(known ? 200 : 404).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dial = async () => connect(port, '127.0.0.1')
  const listed = { token: 's3cret', basePath: '/user/x/', server: { tls: false, host: undefined } }
  try {
    expect(await hasPage(dial, listed, 'tree', systemClock)).toBe(true)
    expect(await hasPage(dial, listed, 'lab', systemClock)).toBe(false)
  } finally {
    server.close()
  }
})
