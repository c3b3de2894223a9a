import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  envOf,
  type FlagRow,
  parseFlags,
  printFlags,
  rowMistake,
} from '#renderer/features/templates/dockerFlags.ts'
import { anyCharacter } from '#test/unit/any-character.ts'

const withoutSource = ({ source: _, ...row }: FlagRow) => row
const rows = (text: string) => parseFlags(text).rows.map(withoutSource)
const variable = (name: string, value: string) => ({ kind: 'variable', name, value })

describe('Docker flags are read', () => {
  test('as variables and ports in every notation', () => {
    expect(rows('-e A=1 --env B=2 -eC=3 --env=D=4 -p 8080:80 -p 53/udp --publish=1:2/tcp')).toEqual([
      variable('A', '1'),
      variable('B', '2'),
      variable('C', '3'),
      variable('D', '4'),
      { kind: 'port', outside: '8080', container: '80', protocol: 'tcp' },
      { kind: 'port', outside: '', container: '53', protocol: 'udp' },
      { kind: 'port', outside: '1', container: '2', protocol: 'tcp' },
    ])
  })

  test('with a shell’s quotes and escapes', () => {
    expect(
      rows(String.raw`-e A='x y' -e B="say \"hi\" \n" -e 'C=it'"'"'s' -e D=a\ b -e "E=" -e F=-e`),
    ).toEqual([
      variable('A', 'x y'),
      variable('B', String.raw`say "hi" \n`),
      variable('C', "it's"),
      variable('D', 'a b'),
      variable('E', ''),
      variable('F', '-e'),
    ])
  })

  test('with other flags whole, including their values', () => {
    expect(rows('-h box -v /data:/data --gpus all --privileged -e PATH -p 1-5:1-5 stray')).toEqual([
      { kind: 'other', text: '-h box' },
      { kind: 'other', text: '-v /data:/data' },
      { kind: 'other', text: '--gpus all' },
      { kind: 'other', text: '--privileged' },
      { kind: 'other', text: '-e PATH' },
      { kind: 'other', text: '-p 1-5:1-5' },
      { kind: 'other', text: 'stray' },
    ])
  })

  test('over lines joined by a backslash', () => {
    expect(rows('-e A=1 \\\n  -e B=2\n-p 80')).toHaveLength(3)
  })

  test('with an open quote reported and kept', () => {
    const read = parseFlags(`-e A=1 -e B='x`)
    expect(read.unclosed).toBe(true)
    expect(read.rows.at(-1)).toMatchObject({ kind: 'other' })
    expect(printFlags(read.rows)).toBe(`-e A=1 -e B='x`)
  })
})

const flagText = fc.oneof(
  fc.string(),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '-e',
          '-p',
          '-h',
          '-v',
          '--env',
          ' ',
          '\t',
          '\n',
          '\\',
          '\\\n',
          '"',
          "'",
          '=',
          ':',
          '$',
          '80',
        ),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 30 },
    )
    .map(parts => parts.join('')),
)
/** Texts of characters that shells and flags treat specially. */
const awkward = fc.string({
  unit: fc.constantFrom("'", '"', '\\', ' ', '\n', '\r', '$', '`', '=', '-', 'e', '#'),
  maxLength: 10,
})
const newRow: fc.Arbitrary<FlagRow> = fc.oneof(
  fc.record({
    kind: fc.constant('variable' as const),
    name: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/),
    value: fc.oneof(fc.string({ unit: anyCharacter, maxLength: 12 }), awkward),
  }),
  fc.record({
    kind: fc.constant('port' as const),
    outside: fc.option(fc.integer({ min: 1, max: 65_535 }).map(String), { nil: '' }),
    container: fc.integer({ min: 1, max: 65_535 }).map(String),
    protocol: fc.constantFrom('tcp' as const, 'udp' as const),
  }),
  fc
    .constantFrom('-h box', '-v /a:/b', '--gpus all', '--privileged')
    .map(text => ({ kind: 'other' as const, text })),
)

describe('rows are lossless', () => {
  test('whatever is written, its rows print it to the letter', () => {
    fc.assert(
      fc.property(flagText, text => {
        expect(printFlags(parseFlags(text).rows)).toBe(/^(?:\s|\\\r?\n)*$/.test(text) ? '' : text)
      }),
      { numRuns: 3000 },
    )
  })

  test('new rows are the same after printing and reading', () => {
    fc.assert(
      fc.property(fc.array(newRow, { maxLength: 8 }), given => {
        const read = parseFlags(printFlags(given))
        expect(read.unclosed).toBe(false)
        expect(read.rows.map(withoutSource)).toEqual(given)
      }),
      { numRuns: 2000 },
    )
  })

  test('changing or adding a row leaves the others as they were', () => {
    fc.assert(
      fc.property(fc.array(newRow, { maxLength: 8 }), newRow, fc.nat(), (given, added, where) => {
        const before = parseFlags(printFlags(given))
        const at = where % (before.rows.length + 1)
        const put = before.rows.toSpliced(at, at < before.rows.length ? 1 : 0, added)
        expect(parseFlags(printFlags(put)).rows.map(withoutSource)).toEqual(put.map(withoutSource))
      }),
      { numRuns: 3000 },
    )
  })
})

test('of a variable given twice the last value counts', () => {
  expect(envOf('-e A=1 -e A=2 -p 80:80 -p 53:53/udp')).toEqual({
    variables: new Map([['A', '2']]),
    ports: new Set(['80', '53/udp']),
  })
})

test('a row’s mistake is described', () => {
  expect(rowMistake({ kind: 'variable', name: '', value: 'x' })).toMatch(/name/)
  expect(rowMistake({ kind: 'variable', name: '1A', value: 'x' })).toMatch(/digit/)
  expect(rowMistake({ kind: 'port', outside: '', container: '70000', protocol: 'tcp' })).toMatch(/65535/)
  expect(rowMistake({ kind: 'port', outside: '80', container: '80', protocol: 'tcp' })).toBeUndefined()
})
