import { expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'

test.each([
  ['https://gpu.example', 'https://gpu.example'],
  ['  https://gpu.example/  ', 'https://gpu.example'],
  ['https://gpu.example:8443/market//', 'https://gpu.example:8443/market'],
  ['HTTPS://GPU.Example/Market', 'https://gpu.example/Market'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ['http://127.9.9.9', 'http://127.9.9.9'],
  ['http://2130706433/', 'http://127.0.0.1'],
  ['http://[::1]:80/', 'http://[::1]'],
  ['http://localhost:9', 'http://localhost:9'],
  ['127.0.0.1:8841', 'http://127.0.0.1:8841'],
  ['localhost:8841/', 'http://localhost:8841'],
  ['[::1]:8841', 'http://[::1]:8841'],
  ['gpu.example', 'https://gpu.example'],
  ['gpu.example.com:8443/market', 'https://gpu.example.com:8443/market'],
  ['127.0.0.1.example', 'https://127.0.0.1.example'],
  ['192.168.1.4:80', 'https://192.168.1.4:80'],
  ['https://gpu.example/api/v0', 'https://gpu.example'],
  ['gpu.example/market/api/v0/', 'https://gpu.example/market'],
  ['https://gpu.example/api/v0/market', 'https://gpu.example/api/v0/market'],
  ['https://gpu.example/my-api/v0', 'https://gpu.example/my-api/v0'],
])('%j is read as %j', (text, base) => {
  expect(parseBaseUrl(text)).toBe(base)
})

test.each([
  ['', 'bad_url'],
  ['two words', 'bad_url'],
  ['gpu.example:port', 'bad_url'],
  ['gpu.example/?key=1', 'bad_url'],
  ['ftp://gpu.example', 'bad_url'],
  ['javascript:alert(1)', 'bad_url'],
  ['file:///etc/passwd', 'bad_url'],
  ['https://', 'bad_url'],
  ['https://gpu.example/?key=1', 'bad_url'],
  ['https://gpu.example/?', 'bad_url'],
  ['https://gpu.example/#', 'bad_url'],
  ['https://gpu.example/#a', 'bad_url'],
  ['http://gpu.example', 'insecure_url'],
  ['http://127.0.0.1.example', 'insecure_url'],
  ['http://192.168.1.4', 'insecure_url'],
  ['http://localhost.example', 'insecure_url'],
  ['https://me:secret@gpu.example', 'url_has_credentials'],
  ['https://me@gpu.example', 'url_has_credentials'],
])('%j is refused as %s', (text, code) => {
  expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ name: 'ServiceError', code }))
})

test('a refused address is not repeated in the message', () => {
  expect(() => parseBaseUrl('https://me:hunter2@gpu.example')).not.toThrow(/hunter2/)
})
