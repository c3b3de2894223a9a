import { expect, test } from 'vitest'
import { openPage } from '#machine/browser/page-server.ts'
import { HandClock } from '#test/berth/clocks.ts'

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
