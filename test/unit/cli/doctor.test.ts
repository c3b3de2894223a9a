import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clockCheck, diskCheck, proxyCheck } from '#cli/doctor.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const hours = 3_600_000

test('the doctor says which clock is wrong, this computer’s or the service’s', () => {
  const checked = (clock: object) =>
    clockCheck({ demo: false, clock: { serverAt: 5 * hours, localAt: 5 * hours, rate: 1, ...clock } }).map(
      ({ name, ok, message }) => [name, ok, message],
    )
  const right = ['Clock', true, 'Matches the service’s clock.']
  expect(checked({})).toEqual([right])
  expect(checked({ localAt: 7 * hours })).toEqual([['Clock', false, '2 h ahead of the service’s clock.']])
  expect(checked({ strays: -7200 })).toEqual([
    ['Clock of the service', false, 'It’s 2 h behind the time that Berth goes by.'],
    right,
  ])
})

test('the doctor names a proxy that can’t be used, or the way that Berth takes', () => {
  expect(proxyCheck({ name: 'me', connection: { status: 'online' } })).toMatchObject({
    ok: true,
    message: 'None: Berth asks the service directly.',
  })
  const proxy = 'socks5://127.0.0.1:1080'
  const problem = { code: 'proxy_failed', message: `The proxy ${proxy} is of a kind …`, advice: 'Check it.' }
  expect(proxyCheck({ name: 'me', proxy, connection: { status: 'offline', problem } })).toMatchObject({
    ok: false,
    message: problem.message,
  })
})

test.skipIf(process.getuid?.() === 0)('the doctor names a folder that can’t be written to', async () => {
  const folder = temporaryFolder()
  expect(await diskCheck(folder)).toMatchObject({ message: expect.stringContaining('free.') })
  chmodSync(folder, 0o500)
  expect(await diskCheck(folder)).toMatchObject({ ok: false, message: `${folder} can’t be written to.` })
})
