import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchResult, isPublicAddress, PrivateAddress, publicLookup, resultAddress } from '#service/result.ts'
import { LeapingClock } from '#test/berth/clocks.ts'
import { raw, ScriptedService } from './scripted-service.ts'

let store: ScriptedService
beforeAll(async () => {
  store = await ScriptedService.start()
})
afterAll(() => store.stop())

const fetched = () =>
  fetchResult(`${store.baseUrl}/log`, { baseUrl: 'http://127.0.0.1:1', clock: new LeapingClock() })

test('a missing result is polled for, without the key', async () => {
  store.script = [raw('AccessDenied', 403), raw('NoSuchKey', 404), raw('step 1\n')]
  expect(await fetched()).toEqual({ text: 'step 1\n', cut: false })
  expect(store.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill('GET /log'))
  for (const { headers } of store.requests) {
    expect(headers.authorization).toBeUndefined()
    expect(headers.cookie).toBeUndefined()
  }
})

test('a result that stays missing or fails is given up', async () => {
  store.otherwise = raw('NoSuchKey', 404)
  await expect(fetched()).rejects.toMatchObject({ code: 'no_result', status: 404 })
  store.script = [raw('', 500)]
  await expect(fetched()).rejects.toMatchObject({ code: 'no_result', status: 500 })
})

test('a result’s redirect is not followed', async () => {
  const before = store.requests.length
  store.script = [raw('', 302, { location: `${store.baseUrl}/elsewhere` })]
  await expect(fetched()).rejects.toMatchObject({ code: 'redirected' })
  expect(store.requests.slice(before).map(({ url }) => url)).toEqual(['/log'])
})

test('at most a megabyte of a result is read', async () => {
  store.script = [raw('x'.repeat(3_000_000))]
  const { text, cut } = await fetched()
  expect({ length: text.length, cut }).toEqual({ length: 1_000_000, cut: true })
})

test.each([
  'http://logs.example/5',
  'ftp://logs.example/5',
  'https://user:pass@logs.example/5',
  'https://10.1.2.3/5',
  'https://169.254.169.254/latest/meta-data',
  'https://0x7f000001/5',
  'https://[::1]/5',
  'https://[::ffff:192.168.0.1]/5',
  'https://[fe80::1]/5',
  'https://localhost/5',
  'http://127.0.0.1:8080/5',
  'nonsense',
])('the address %s is rejected before a request', async address => {
  const baseUrl = 'https://gpus.example'
  expect(resultAddress(address, baseUrl)).toBeUndefined()
  await expect(fetchResult(address, { baseUrl })).rejects.toMatchObject({ code: 'unsafe_result' })
})

test('public addresses are distinguished from private ones', () => {
  expect(['8.8.8.8', '2606:4700::1111'].map(isPublicAddress)).toEqual([true, true])
  expect(['100.64.0.1', '192.168.1.1', 'fd00::1', '::', 'name'].some(isPublicAddress)).toBe(false)
  expect(resultAddress('https://logs.example/5', 'https://gpus.example')?.host).toBe('logs.example')
})

test('a host name that resolves to this machine is rejected', async () => {
  const refusal = await new Promise(resolve => publicLookup('localhost', { all: true }, resolve))
  expect(refusal).toBeInstanceOf(PrivateAddress)
})
