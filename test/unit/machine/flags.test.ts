import { expect, test } from 'vitest'
import { FlagError, linkAmong, ownArguments, readFlags } from '#machine/start/flags.ts'

test('without flags the window opens on any port, with a demo speed of 20', () => {
  expect(readFlags([])).toEqual({
    browser: false,
    port: 0,
    open: true,
    demo: false,
    hidden: false,
    speed: 20,
  })
})

test('a link from the desktop is found at any position', () => {
  const link = 'berth://instance/4711'
  expect(readFlags([link, '--hidden'])).toMatchObject({ link, hidden: true })
  expect(linkAmong(['/opt/Berth/berth', '--no-sandbox', link])).toBe(link)
  expect(linkAmong(['--demo'])).toBeUndefined()
})

test('every flag is read', () => {
  const flags = readFlags(['--browser', '--port', '4711', '--no-open', '--demo', '--speed=2.5'])
  expect(flags).toEqual({ browser: true, port: 4711, open: false, demo: true, hidden: false, speed: 2.5 })
})

test.each([
  ['--colour'],
  ['--port', 'abc'],
  ['--port', '70000'],
  ['--port', '1.5'],
  ['--port', ''],
  ['--port'],
  ['--speed', '0'],
  ['--speed', '-1'],
  ['--speed', 'NaN'],
  ['extra'],
])('%j %j is refused by name', (...args) => {
  expect(() => readFlags(args)).toThrow(FlagError)
  expect(() => readFlags(args)).toThrow(new RegExp(args[0] === 'extra' ? 'extra' : `${args[0]}`))
})

test.each([20_000, 25_000, 29_999])(
  'port %i is refused, since 20000 to 29999 are for pages of instances',
  port => {
    expect(() => readFlags(['--port', String(port)])).toThrow(/20000 to 29999 are for pages of instances/)
  },
)

test.each([0, 19_999, 30_000])('port %i is accepted', port => {
  expect(readFlags(['--port', String(port)]).port).toBe(port)
})

test('only Berth’s own flags are kept of Electron’s and the desktop’s arguments', () => {
  const given = [
    '.',
    '--no-sandbox',
    '--demo',
    '--speed',
    '60',
    'berth://instance/1',
    '--port=7',
    '--type=gpu',
  ]
  expect(ownArguments(given)).toEqual(['--demo', '--speed', '60', '--port=7'])
})
