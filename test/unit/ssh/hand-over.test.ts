import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { listingScript, missing, readListing } from '#ssh/runs/hand-over.ts'

const name = fc
  .string({ unit: fc.constantFrom(...'ab -*\'$\\\n\t"é.'), minLength: 1, maxLength: 8 })
  .filter(text => text !== '.' && text !== '..')

test('a machine’s list of its files has each that a list can carry, whatever its name, with its hash', async () => {
  const files = fc.dictionary(name, fc.string({ maxLength: 20 }), { maxKeys: 6 })
  await fc.assert(
    fc.asyncProperty(name, files, async (result, contents) => {
      const folder = mkdtempSync(join(tmpdir(), 'berth-list-'))
      try {
        mkdirSync(join(folder, result))
        for (const [file, text] of Object.entries(contents)) writeFileSync(join(folder, result, file), text)
        const text = execFileSync('sh', ['-s'], {
          input: await listingScript(folder, result),
          encoding: 'utf8',
        })
        const names = [...readListing(text).files.keys()]
        const whole = Object.keys(contents).map(file => `./${result}/${file}`)
        expect(names.toSorted()).toEqual(whole.filter(path => !/[\\\n]/.test(path)).toSorted())
      } finally {
        rmSync(folder, { recursive: true })
      }
    }),
    { numRuns: 25 },
  )
})

test('only what the next machine lacks or has otherwise is sent, and every link', () => {
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
  const { files: have, unnamed } = readListing(
    `${one}  ./out/a\n${two} *./out/b\n${two}  ./out/c\nlink  ./out/latest\nnoise\n\\${one}  ./x\\n\n${two}  ./lat\uFFFDin`,
  )
  expect(unnamed).toBe(2)
  const { files: had } = readListing(`${one}  ./out/a\n${one}  ./out/b\n`)
  expect(missing(have, had)).toEqual(['./out/b', './out/c', './out/latest'])
  expect(missing(have, have)).toEqual(['./out/latest'])
})

test('a folder that isn’t there has no files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-list-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const at of [join(folder, 'none'), folder])
    expect(execFileSync('sh', ['-s'], { input: await listingScript(at, 'out'), encoding: 'utf8' })).toBe('')
})
