import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSpec } from '#core/projects/read-spec.ts'
import { editedText, specText } from '#core/projects/write-spec.ts'
import { harmless } from '#shared/instance/file-names.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'

describe('a berth.yaml that Berth writes', () => {
  test('reads as a person would write it', () => {
    const spec = {
      machine: { gpu: ['RTX 4090', 'RTX 3090'], price: 0.6 },
      setup: 'pip install -r requirements.txt\npython prepare.py',
      run: 'python train.py',
      results: ['out', 'logs'],
      stop: { idle: 5400, hours: 2, dollars: 2 },
      after: 'stop' as const,
    }
    expect(specText(spec)).toBe(`machine:
  gpu: [ RTX 4090, RTX 3090 ]
  price: 0.6
setup: |-
  pip install -r requirements.txt
  python prepare.py
run: python train.py
results: [ out, logs ]
stop: { idle: 1h30m, hours: 2, dollars: 2 }
after: stop
`)
  })

  test('reads back as the same spec, whatever its texts contain', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(any => `x${any.trim()}y`)
    const lines = fc
      .array(fc.oneof(text, fc.constantFrom('', '# no', '- a', '"', '*x', '&x', '!!y', '\t', 'yes')))
      .map(all => `a${all.join('\n')}b`)
    const minutes = fc.integer({ min: 1, max: 100_000 }).map(count => count * 60)
    const specs: fc.Arbitrary<ProjectSpec> = fc.record({
      name: text.map(any => harmless(any).replaceAll(/[/\\]/g, '-').slice(0, 60).trim()),
      machine: fc.record({
        gpu: fc.array(text, { minLength: 1 }),
        price: fc.double({ min: 0.001, max: 32, noNaN: true }),
      }),
      env: fc.dictionary(
        fc.stringMatching(/^V[A-Z]{1,8}$/),
        fc.oneof(fc.string(), fc.constantFrom('1', '3.10', '007', '1e-4', 'true', 'null', '0x1', '~', '')),
      ),
      setup: lines,
      run: lines,
      checkpoint: minutes,
      stop: fc.record({ idle: minutes }),
    })
    fc.assert(
      fc.property(specs, spec => {
        expect(readSpec(specText(spec))).toEqual({ spec })
      }),
    )
  })
})

describe('a berth.yaml that a form changes', () => {
  const text = `# Trains the digits.
machine:
  gpu: RTX 4090   # fast enough
  vram: 24
  price: 0.60

env:
  TOKEN: { secret: HF_TOKEN }
run: |
  # first the data
  python train.py
checkpoint: 90m   # steps are long
stop: { hours: 2 } # never longer
`

  function edited(change: (spec: ProjectSpec) => ProjectSpec, from = text): string {
    const read = readSpec(from)
    if ('problems' in read) throw new Error(JSON.stringify(read.problems))
    return editedText(from, change(read.spec))
  }

  test('keeps comments, fields that the form lacks, and the notation of unchanged values', () => {
    const changed = edited(spec => ({
      ...spec,
      machine: { ...spec.machine, gpu: ['RTX 4090', 'H100'], price: undefined },
      stop: { hours: 3, idle: 1800 },
      results: 'out',
    }))
    expect(changed).toBe(`# Trains the digits.
machine:
  gpu: [ RTX 4090, H100 ] # fast enough
  vram: 24

env:
  TOKEN: { secret: HF_TOKEN }
run: |
  # first the data
  python train.py
checkpoint: 90m # steps are long
stop: { hours: 3, idle: 30m } # never longer
results: out
`)
  })

  test('drops a section that is empty', () => {
    expect(edited(({ machine: _, stop: __, ...spec }) => spec)).not.toMatch(/machine|stop/)
  })

  test.each([
    ['refers to an entry that goes', 'image: &one a\ntemplate: *one\nrun: x\n', { image: undefined }],
    ['has errors', 'runn: x\n', {}],
  ])('is left to its author where it %s', (_, from, change) => {
    const read = readSpec(from)
    const spec = 'spec' in read ? read.spec : { run: 'x' }
    expect(() => editedText(from, { ...spec, ...change })).toThrow('can’t change this berth.yaml')
  })
})
