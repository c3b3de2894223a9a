import { describe, expect, test } from 'vitest'
import { BerthError } from '#shared/problem.ts'
import { candidates, checkHost, checkPort } from '#ssh/connection/addresses.ts'
import { nastyHosts } from '#test/hostile/hosts.ts'

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
  'ssh_4.example',
  '_ssh.example',
  `${'a'.repeat(63)}.example`,
]

/** Values that are not even text. */
const noText: unknown[] = [undefined, null, 42, ['example.com'], { toString: () => 'example.com' }]

describe('a host named by the service', () => {
  test.each(hosts)('%j is accepted unchanged', host => {
    expect(checkHost(host)).toBe(host)
  })

  test.each([...nastyHosts, ...noText].map(host => [host]))(
    '%j is refused with its field and without being repeated',
    host => {
      const problem = refusal(() => checkHost(host))
      expect(problem.code).toBe('bad_address')
      expect(problem.field).toBe('ssh_host')
      expect(problem.message).toContain('ssh_host')
      expect(problem.message.length).toBeLessThan(150)
      if (typeof host === 'string' && host.trim().length > 4) expect(problem.message).not.toContain(host)
    },
  )
})

describe('a port named by the service', () => {
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

describe('the SSH addresses', () => {
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

  test('are those that are valid, and refused where none is', () => {
    const option = { host: '-v', port: 22 }
    expect(candidates({ direct: option, proxy }, true).map(({ way }) => way)).toEqual(['proxy', 'guess'])
    expect(candidates({ direct, proxy: option }, true)).toEqual([{ address: direct, way: 'direct' }])
    expect(refusal(() => candidates({ direct: option, proxy: option }, true)).message).toContain('dash')
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
