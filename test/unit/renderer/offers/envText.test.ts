import { expect, test } from 'vitest'
import { readPastedOptions } from '../../../../renderer/screens/offers/rent/envText.ts'

const env = (text: string) =>
  Object.fromEntries(readPastedOptions(text).env.map(({ name, value }) => [name, value]))

test.each<[string, string, Record<string, string>]>([
  ['an option', '-e A=1', { A: '1' }],
  [
    'several on a line, spelled in every way',
    '-e A=1 --env B=2 --env=C=3 -eD=4',
    { A: '1', B: '2', C: '3', D: '4' },
  ],
  ['quotes', `-e A="two words" -e 'B=a "b"' -e C='x'`, { A: 'two words', B: 'a "b"', C: 'x' }],
  ['an escaped quote', String.raw`-e A="say \"hi\""`, { A: 'say "hi"' }],
  ['a value with =', '-e URL=https://x/?a=b', { URL: 'https://x/?a=b' }],
  ['an empty value', '-e A=', { A: '' }],
  [
    'lines of a .env file',
    '# mine\nA=1\n\nexport B="two words"\nC = three words',
    { A: '1', B: 'two words', C: 'three words' },
  ],
  ['a continued command', 'docker run -e A=1 \\\n  -e B=2', { A: '1', B: '2' }],
  ['a name given twice: the later', '-e A=1\nA=2', { A: '2' }],
])('reads %s', (_, text, expected) => {
  expect(env(text)).toEqual(expected)
  expect(readPastedOptions(text).unread).toEqual([])
})

test('ports are outside:inside where they differ', () => {
  expect(readPastedOptions('-p 8080:80 -p 127.0.0.1:53:53/udp -p 6006').ports).toEqual([
    '8080:80',
    '53/udp',
    '6006',
  ])
})

test('an unknown option is reported, and the rest of its line is used', () => {
  const found = readPastedOptions('-e A=1 --gpus all\nwhat is this\n-e B="open')
  expect(found.env).toEqual([{ name: 'A', value: '1' }])
  expect(found.unread).toEqual(['-e A=1 --gpus all', 'what is this', '-e B="open'])
})

test('a long line of quotes and backslashes is read quickly', () => {
  const before = process.cpuUsage()
  readPastedOptions(`-e A=${'\\"\''.repeat(20_000)}`)
  // CPU time in milliseconds, independent of load; with backtracking it would take seconds.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
})
