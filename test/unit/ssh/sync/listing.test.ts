import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseListing } from '#ssh/sync/listing.ts'

const head =
  'berth-sync ok gnu 1700000100\nFilesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a b 10 4 6 40% /\n\0'
const listing = (...entries: string[]) =>
  parseListing(Buffer.from(head + entries.map(each => `${each}\0\0`).join('')), '/x', ['.'])

test('facts, paths and the free disk space are read', () => {
  const { items, free, tar, now } = listing('d 4096 1700000000.0 755 .', 'f 12 1700000000.25 755 ./a b\nc')
  expect({ free, tar, now }).toEqual({ free: 6144, tar: 'gnu', now: 1_700_000_100 })
  expect([...items]).toEqual([
    ['a b\nc', { kind: 'file', size: 12, modified: 1_700_000_000, executable: true }],
  ])
})

test('the target of a link is read', () => {
  const { items } = parseListing(Buffer.from(`${head}l 3 1 777 ./l\0../x\0`), '/x', ['.'])
  expect(items.get('l')).toMatchObject({ kind: 'link', target: '../x' })
})

test('reads only requested paths and contents of listed folders', () => {
  const entries = [
    ...['f 1 1 644 ./GNUmakefile', 'd 1 1 755 ./outer', 'f 1 1 644 ./outer/x'],
    ...['d 1 1 755 ./out', 'd 1 1 755 ./out/a', 'f 1 1 644 ./out/a/x', 'f 1 1 644 ./out/b/x'],
    ...['f 1 1 644 ./model.pt', 'f 1 1 644 ./model.pt/x'],
  ]
  const bytes = Buffer.from(head + entries.map(each => `${each}\0\0`).join(''))
  const { items } = parseListing(bytes, '/x', ['out', 'model.pt'])
  expect([...items.keys()]).toEqual(['out', 'out/a', 'out/a/x', 'model.pt'])
})

test('a listing with too many entries is refused', () => {
  const many = Array.from({ length: 11 }, (_, at) => `f 1 1 644 ./${at}\0\0`).join('')
  const bounds = { entries: 10, depth: 4, characters: 1000 }
  expect(() => parseListing(Buffer.from(head + many), '/x', ['.'], bounds)).toThrow(/more files/)
})

test.each(['', 'hello', 'berth-sync ok gnu', 'berth-sync ok rm 1', `${'berth-sync ok gnu 1 '.repeat(9999)}`])(
  'text that is no listing is refused: %#',
  text => {
    expect(() => parseListing(Buffer.from(text), '/x', ['.'])).toThrow()
  },
)

test('any output of an instance gives only items with whole numbers and relative paths', () => {
  const words = 'f d 1 -1 99999999999999999999 1.5 644 ./a /etc/passwd ./../x'.split(' ')
  const word = fc.oneof(fc.string(), fc.constantFrom(...words))
  const entry = fc.array(word, { maxLength: 6 }).map(words => words.join(' '))
  fc.assert(
    fc.property(fc.array(entry), entries => {
      for (const [path, { size, modified }] of listing(...entries).items) {
        expect(Number.isSafeInteger(size) && Number.isSafeInteger(modified)).toBe(true)
        expect(path.startsWith('/etc')).toBe(false)
      }
    }),
  )
})
