import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openLog } from '#platform/log.ts'
import { fileModes, lacks } from '#test/needs.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'logs/berth.log')
})

const read = async (name = 'berth.log') => readFile(join(folder, 'logs', name), 'utf8')

test.skipIf(lacks(fileModes) !== '')(
  'each entry is one line with its time, in a file only the user can read',
  async () => {
    const log = openLog(path)
    log.line('first\nof two')
    log.line('second')
    await log.close()
    expect(await read()).toMatch(/^\S+T\S+Z first of two\n\S+T\S+Z second\n$/)
    expect((await stat(path)).mode & 0o077).toBe(0)
    expect((await stat(join(folder, 'logs'))).mode & 0o077).toBe(0)
  },
)

test('no secret reaches the log, known or recognised by its form', async () => {
  const log = openLog(path)
  log.learn('correct horse')
  log.line('Authorization: Bearer abcdef123456')
  log.line(
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${'c2VjcmV0'.repeat(2_000)}\n-----END OPENSSH PRIVATE KEY-----`,
  )
  log.lastLine('died of correct horse')
  await log.close()
  expect(await read()).not.toMatch(/abcdef|c2Vj|horse/)
  expect(log.recent().join()).not.toMatch(/abcdef|c2Vj|horse/)
})

test('a secret across the cut of a long line is masked before the cut', async () => {
  const log = openLog(path)
  log.learn('correct horse')
  const before = 'x '.repeat(1_994)
  // A cut before masking would leave its first characters.
  log.line(`${before}correct horse, and more`)
  log.line(`${before}token=abcdef123456 and more`)
  await log.close()
  expect(await read()).not.toMatch(/correct|abcd/)
  expect((await read()).split('\n')[0]?.length).toBeLessThan(4_100)
})

test('a full log file is rotated, with a limited number kept and no line lost between them', async () => {
  const log = openLog(path, { largest: 2_000, kept: 3 })
  for (let number = 0; number < 400; number++) {
    log.line(`line ${number}`)
    if (number % 10 === 0) await log.close()
  }
  await log.close()
  const names = (await readdir(join(folder, 'logs'))).toSorted()
  expect(names).toEqual(['berth.log', 'berth.log.1', 'berth.log.2', 'berth.log.3'])
  for (const name of names) expect((await stat(join(folder, 'logs', name))).size).toBeLessThanOrEqual(2_000)
  const texts = await Promise.all(names.toReversed().map(read))
  const numbers = [...texts.join('').matchAll(/line (\d+)/g)].map(([, number]) => Number(number))
  const first = numbers[0] ?? 0
  expect(numbers).toEqual(Array.from({ length: 400 - first }, (_, index) => first + index))
  expect(first).toBeGreaterThan(0)
})

test('recent lines are kept in memory, also those of an earlier start', async () => {
  const before = openLog(path)
  before.lastLine('the end of the first')
  await before.close()
  const log = openLog(path)
  log.line('the beginning of the second')
  expect(log.recent().map(line => line.split(' ').slice(1).join(' '))).toEqual([
    'the end of the first',
    'the beginning of the second',
  ])
  for (let number = 0; number < 300; number++) log.line(`line ${number}`)
  expect(log.recent()).toHaveLength(200)
  expect(log.recent().at(-1)).toMatch(/line 299$/)
  await log.close()
})

test('a log folder that cannot be written to causes no error', async () => {
  const log = openLog(path)
  await rm(join(folder, 'logs'), { recursive: true })
  log.line('lost')
  log.lastLine('lost too')
  await log.close()
  expect(log.recent()).toHaveLength(2)
})
