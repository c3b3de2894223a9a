import * as fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteOutput, openOutput, type RunOutput } from '#core/runs/output.ts'
import { outputStream, pageOf, searchOutput } from '#core/runs/output-pages.ts'
import { openFiles } from '#platform/files.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { liveMemory } from '#test/live-memory.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const id = 'x0000000000000001'
const small = { bytes: 1000, files: 3 }
const open = (files: MemoryFiles, most = small) => openOutput(files, 'runs', id, most)

async function allOf(output: RunOutput): Promise<string> {
  const { bytes } = await output.read(0, output.next())
  return bytes.toString('utf8')
}

test('output in pieces stays whole over restarts and broken writes, without repeats', async () => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
  const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 60 }), killed: fc.boolean() }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(texts, cuts, async (text, steps) => {
      const files = new MemoryFiles()
      const all = Buffer.from(text, 'utf8')
      let output = await openOutput(files, 'runs', id, { bytes: 40, files: 1000 })
      for (let step = 0; output.next() < all.length; step += 1) {
        const { size, killed } = steps[step % steps.length] ?? { size: 60, killed: false }
        const from = output.next()
        await output.append(all.subarray(from, from + size))
        if (!killed) continue
        // Half of the next piece reached the disk.
        const half = all.subarray(output.next(), output.next() + Math.ceil(size / 2))
        await output.append(half)
        output = await openOutput(files, 'runs', id, { bytes: 40, files: 1000 })
        expect(output.next()).toBe(Math.min(all.length, from + size + half.length))
      }
      expect(await allOf(output)).toBe(all.toString('utf8'))
    }),
    { numRuns: 200 },
  )
})

test('long output keeps its newest part, also over a restart, and goes with the run', async () => {
  const files = new MemoryFiles()
  const output = await open(files)
  await files.append('runs/x0000000000000002.000000000000000', Buffer.from('another run’s'))
  for (let line = 0; line < 600; line += 1) {
    await output.append(Buffer.from(`line ${String(line).padStart(4, '0')}\n`))
    const kept = output.next() - output.first()
    expect(kept).toBeLessThanOrEqual(small.files * (small.bytes + 10))
    if (line > 400) expect(kept).toBeGreaterThanOrEqual((small.files - 1) * small.bytes)
  }
  expect(output.next()).toBe(6000)
  const again = await open(files)
  expect([again.next(), again.first()]).toEqual([6000, output.first()])
  const text = await allOf(again)
  expect(text.length).toBe(6000 - again.first())
  expect(text.endsWith('line 0599\n')).toBe(true)
  await deleteOutput(files, 'runs', id)
  expect([...files.bytes.keys()]).toEqual(['runs/x0000000000000002.000000000000000'])
})

test('after a refused write the output continues at the end of the file, without loss', async () => {
  const files = new MemoryFiles()
  const output = await open(files)
  await output.append(Buffer.from('one\n'))
  files.refusing = 'ENOSPC'
  await expect(output.append(Buffer.from('two\n'))).rejects.toThrow(/ENOSPC/)
  files.refusing = undefined
  expect(output.next()).toBe(4)
  await output.append(Buffer.from('two\n'))
  expect(await allOf(output)).toBe('one\ntwo\n')
})

test('pages cover all kept output in both directions, and around any line', async () => {
  const files = new MemoryFiles()
  const output = await openOutput(files, 'runs', id)
  const lines = Array.from({ length: 2500 }, (_, at) => `line ${at} – ünïcode`)
  await output.append(Buffer.from(`${lines.join('\n')}\n`))
  const back: string[] = []
  for (let to = output.next(); to > output.first(); ) {
    const page = await pageOf(output, { before: to })
    expect(page).toMatchObject({ to, first: 0, end: output.next() })
    back.unshift(page.text)
    to = page.from
  }
  expect(back.length).toBe(3)
  expect(back.join('')).toBe(`${lines.join('\n')}\n`)
  let on = ''
  for (let from = 0; from < output.next(); ) {
    const page = await pageOf(output, { from })
    on += page.text
    from = page.to
  }
  expect(on).toBe(back.join(''))
  const { matches } = await searchOutput(output, 'LINE 1234 ')
  expect(matches).toEqual([
    { line: 1235, at: Buffer.from(lines.slice(0, 1234).join('\n')).length + 1, text: lines[1234] },
  ])
  const around = await pageOf(output, { around: matches[0]?.at ?? 0 })
  expect(around.text.split('\n').indexOf(lines[1234] ?? '')).toBe(20)
})

test('a progress bar drawn a thousand times is one line in pages, search and stream', async () => {
  const files = new MemoryFiles()
  const output = await openOutput(files, 'runs', id)
  const bar = Array.from({ length: 1000 }, (_, at) => `\r\u001b[32m${at}/1000\u001b[0m it/s`).join('')
  await output.append(Buffer.from(`begin\n${bar}`))
  expect((await pageOf(output, { before: output.next() })).text).toBe('begin\n\r999/1000 it/s')
  expect(await searchOutput(output, '998/1000')).toEqual({ matches: [], total: 0 })
  expect((await searchOutput(output, '999/1000')).matches).toEqual([
    { line: 2, at: 6, text: '999/1000 it/s' },
  ])

  const stream = outputStream(output, 6)
  onTestFinished(() => void stream.destroy())
  let told = ''
  stream.on('data', bytes => {
    told += String(bytes)
  })
  await vi.waitFor(() => expect(told).toBe('\r999/1000 it/s'), { timeout: 150_000 })
  // An escape sequence in two pieces is not shown.
  await output.append(Buffer.from('\r\u001b[3'))
  await output.append(Buffer.from('2mdone\u001b[0m\nend'))
  await vi.waitFor(() => expect(told).toBe('\r999/1000 it/s\rdone\nend'), { timeout: 150_000 })
})

test('a search covers all output, counts the matches and gives earlier ones on request', async () => {
  const files = new MemoryFiles()
  const output = await openOutput(files, 'runs', id)
  const long = `${'x'.repeat(700_000)} NEEDLE ${'y'.repeat(700_000)}`
  await output.append(Buffer.from(`needle first\n${long}\n`))
  await output.append(Buffer.from(Array.from({ length: 1200 }, (_, at) => `step ${at}: a needle\n`).join('')))
  const last = await searchOutput(output, 'Needle')
  expect(last.total).toBe(1202)
  expect(last.matches).toHaveLength(500)
  expect(last.matches.at(-1)).toMatchObject({ text: 'step 1199: a needle' })
  const earlier = await searchOutput(output, 'Needle', last.matches[0]?.at)
  expect(earlier.matches.at(-1)?.text).toBe('step 699: a needle')
  const first = await searchOutput(output, 'Needle', earlier.matches[0]?.at)
  expect(first.matches.slice(0, 2).map(({ text }) => text.replaceAll(/[xy]+/g, '…'))).toEqual([
    'needle first',
    '…… NEEDLE ……',
  ])
})

test('no output stays in memory, however long it is', async () => {
  const files = openFiles(temporaryFolder())
  const before = liveMemory()
  const outputs: RunOutput[] = []
  for (let run = 0; run < 2; run += 1) {
    const output = await openOutput(files, 'runs', `x000000000000000${run}`)
    outputs.push(output)
    const piece = Buffer.from('epoch 1, loss 0.25\n'.repeat(13_000))
    for (let at = 0; at < 64; at += 1) await output.append(piece)
    await searchOutput(output, 'nothing of the kind')
    await pageOf(output, { before: output.next() })
  }
  expect(outputs.reduce((sum, output) => sum + output.next() - output.first(), 0)).toBeGreaterThan(24_000_000)
  expect(liveMemory() - before).toBeLessThan(4_000_000)
})

test('a page at the end holds back only an incomplete character or escape', async () => {
  const output = await open(new MemoryFiles())
  const bytes = Buffer.from('10 % für\u001b[32m ü')
  const texts: string[] = []
  let at = 0
  for (const byte of bytes) {
    await output.append(Buffer.of(byte))
    const page = await pageOf(output, { from: at })
    at = page.to
    texts.push(page.text)
  }
  expect(texts.join('')).toBe('10 % für ü')
  expect(at).toBe(bytes.length)
})
