import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openOutput } from '../../../../electron/core/runs/output.ts'
import { MemoryFiles } from '../memory-files.ts'

const name = 'runs/x.jsonl'

test('output in pieces of any size is whole, over restarts and torn writes, and no byte is asked for twice', async () => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
  const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 60 }), torn: fc.boolean() }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(texts, cuts, async (text, steps) => {
      const files = new MemoryFiles()
      const all = Buffer.from(text, 'utf8')
      let output = await openOutput(files, name)
      for (let step = 0; output.next() < all.length; step += 1) {
        const { size, torn } = steps[step % steps.length] ?? { size: 60, torn: false }
        const from = output.next()
        // At least four, or a character might never be whole.
        const bytes = all.subarray(from, from + size + 3)
        await output.append(bytes, from + bytes.length === all.length)
        if (!torn) continue
        // Killed while the next piece was being written.
        await files.append(name, `{"at":${output.next()},"by`)
        output = await openOutput(files, name)
      }
      expect(output.text()).toBe(all.toString('utf8'))
      expect((await openOutput(files, name)).text()).toBe(all.toString('utf8'))
    }),
    { numRuns: 200 },
  )
})

test('of long output the newest is kept, what is not is counted, and who reads on misses nothing', async () => {
  const files = new MemoryFiles()
  const output = await openOutput(files, name, 1000)
  let read = ''
  let at = 0
  for (let line = 0; line < 400; line += 1) {
    await output.append(Buffer.from(`line ${String(line).padStart(4, '0')}\n`), false)
    const { texts, next } = output.pieces(at)
    read += texts.join('')
    at = next
  }
  expect(read).toHaveLength(4000)
  expect(output.next()).toBe(4000)
  expect(output.dropped() + output.text().length).toBe(4000)
  expect(output.text().length).toBeGreaterThanOrEqual(1000)
  expect(output.text().length).toBeLessThanOrEqual(2000)
  expect(output.text().endsWith('line 0399\n')).toBe(true)
  const again = await openOutput(files, name, 1000)
  expect([again.next(), again.dropped(), again.text()]).toEqual([4000, output.dropped(), output.text()])
})
