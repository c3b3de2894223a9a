import { expect, test } from 'vitest'
import { listenerAt, ownerOf } from '#browser/one-use-address.ts'
import { openPage } from '#browser/page-server.ts'
import { HandClock } from '#test/berth/clocks.ts'

const title =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const line = (end: string, other: string, state: string, uid: number) =>
  `   7: ${end} ${other} ${state} 00000000:00000000 02:000A7214 00000000  ${uid}        0 22831 2 0000000000000000 20 4 30 10 -1`
const here = { address: '127.0.0.1', port: 8080 }
const browser = { address: '127.0.0.1', port: 50_000 }

test('the user of the other end is found for IPv4 and mapped IPv6 sockets', () => {
  const four = [
    title,
    line('0100007F:1F90', '0100007F:C350', '01', 1000),
    line('0100007F:C350', '0100007F:1F90', '01', 1001),
  ]
  expect(ownerOf(four.join('\n'), browser, here)).toBe(1001)
  const mapped = '0000000000000000FFFF00000100007F'
  const six = [title, line(`${mapped}:C350`, `${mapped}:1F90`, '01', 1002)]
  expect(ownerOf(six.join('\n'), browser, here)).toBe(1002)
})

test('other ports, other addresses and a closing connection have no owner', () => {
  const list = [
    title,
    line('0100007F:C351', '0100007F:1F90', '01', 1000),
    line('0200007F:C350', '0100007F:1F90', '01', 1000),
    line('0100007F:C350', '0100007F:1F91', '01', 1000),
    line('0100007F:C350', '0100007F:1F90', '06', 0),
  ].join('\n')
  expect(ownerOf(list, browser, here)).toBeUndefined()
  expect(ownerOf('', browser, here)).toBeUndefined()
})

test('only a listening socket has a listener', () => {
  expect(listenerAt(line('0100007F:1F90', '00000000:0000', '0A', 1000), here)).toBe(1000)
  expect(listenerAt(line('0100007F:1F90', '0100007F:C350', '01', 1000), here)).toBeUndefined()
})

/** Opens Berth's page: `join` lets a page join, `said` is the terminal's output. */
function opening() {
  const clock = new HandClock()
  const said: string[] = []
  const opened: string[] = []
  let join: () => void = () => undefined
  const joined = new Promise<void>(resolve => {
    join = resolve
  })
  const server = {
    address: 'http://berth-1.localhost:40000/#token',
    joined,
    openNumericAddress: async () => 'http://127.0.0.1:40001/#token',
  }
  const opener = {
    openLink: async () => undefined,
    openPrivately: async (url: string) => void opened.push(url),
  }
  const done = openPage(server, opener, clock, line => said.push(line))
  return { clock, said, opened, join, done }
}

test('a page that joins within ten seconds needs nothing more', async () => {
  const { clock, said, opened, join, done } = opening()
  await clock.pass(9_999)
  join()
  await done
  await clock.pass(60_000)
  expect(opened).toEqual(['http://berth-1.localhost:40000/#token'])
  expect(said).toEqual([])
})

test('without a page after ten seconds an address on 127.0.0.1 is printed with the reason', async () => {
  const { clock, said, done } = opening()
  await clock.pass(10_000)
  await done
  expect(said).toEqual([
    expect.stringContaining('cannot find names that end in .localhost'),
    'Berth is ready at http://127.0.0.1:40001/#token',
  ])
})
