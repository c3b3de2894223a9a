import { expect, test } from 'vitest'
import { FlagError, readFlags } from '#simulator/flags.ts'

test('flags are read as options, with defaults', () => {
  expect(readFlags([])).toEqual({
    port: 0,
    seed: 7,
    speed: 60,
    offers: 500,
    limits: true,
    calm: false,
    flaky: 0.12,
  })
  const words = '--port 8000 --seed 3 --speed 0.5 --offers 20000 --no-limits --calm --flaky 0.33'.split(' ')
  expect(readFlags(words)).toEqual({
    port: 8000,
    seed: 3,
    speed: 0.5,
    offers: 20_000,
    limits: false,
    calm: true,
    flaky: 0.33,
  })
})

test.each([
  '--port 70000',
  '--port x',
  '--speed 0',
  '--speed -1',
  '--flaky 1.5',
  '--offers 0',
  '--seed 1.5',
  '--fast',
  'extra',
  '--seed',
])('%s is refused with a FlagError', line => {
  expect(() => readFlags(line.split(' '))).toThrowError(FlagError)
})
