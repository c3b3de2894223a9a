import { describe, expect, test } from 'vitest'
import { readSpec } from '#core/projects/read-spec.ts'
import { bidPlanWords, planAfterwards, unusedWords } from '#shared/project/afterwards.ts'

function specOf(text: string) {
  const read = readSpec(`run: python train.py\n${text}`)
  if ('problems' in read) throw new Error(read.problems.map(({ message }) => message).join(' '))
  return read.spec
}

describe('a plan says', () => {
  test.each([
    ['checkpoint: 5m', /^checkpoint does nothing/],
    ['engine: torchrun', /^engine does nothing/],
    ['at_once: 3', /^at_once does nothing/],
    ['env: { lr: 1 }\nsweep: { lr: [1, 2] }', /^The sweep’s lr replaces/],
    ['env: { lr: 1, b: 2 }\nsweep: [{ lr: 1 }, { b: 2 }]', /^The sweep’s lr and b replace /],
  ])('that %j changes nothing', (text, words) => {
    expect(unusedWords(specOf(text))).toEqual([expect.stringMatching(words)])
  })

  test.each([
    'checkpoint: 5m\nresults: out',
    'engine: torchrun\nnodes: 2',
    'at_once: 3\nruns: 4',
    'at_once: 3\nsweep: { lr: [1] }',
    'outbid: { elsewhere: 2 }',
    'outbid: { elsewhere: 0 }',
    'env: { lr: 1 }\nsweep: { seed: [1] }',
  ])('nothing of %j', text => {
    expect(unusedWords(specOf(text))).toEqual([])
  })

  test('how many GPUs accelerate leaves alone, whose count is of all machines', () => {
    const words = (run: string) => unusedWords({ ...specOf('nodes: 2\nmachine: { count: 2 }'), run })
    expect(words('accelerate launch --num_processes 2 train.py')).toEqual([
      'accelerate uses 2 of 4 GPUs: --num_processes counts all machines.',
    ])
    expect(words('accelerate launch --num_processes=4 train.py')).toEqual([])
    expect(words('accelerate launch --num_processes=$((NUM_NODES * 2)) train.py')).toEqual([])
    expect(words('python train.py --num_processes 2')).toEqual([])
  })

  test('after which failures its command is tried again, and how often', () => {
    const words = (text: string) =>
      planAfterwards(specOf(text), { seconds: 86_400, destroys: false }, undefined).join(' ')
    expect(words('retry: { times: 3 }')).toContain('If the command fails, it’s tried again')
    expect(words('retry: { times: 3, elsewhere: true }')).toContain(
      'tried again on another machine with its results',
    )
    expect(words('retry: { times: 1, on: [137, timeout, 3] }')).toContain(
      'fails with exit code 137 (killed, often out of memory), exit code 124 (timed out) or exit code 3, ' +
        'it’s tried again on its machine, at most 1 time:',
    )
    expect(words('')).not.toContain('tried again')
  })

  test('results are waited for before the machine is destroyed only where there are some', () => {
    const words = (text: string) =>
      planAfterwards(specOf(text), { seconds: 86_400, destroys: false }, undefined).join(' ')
    expect(words('results: out')).toContain('disk are destroyed, once all results are downloaded.')
    expect(words('')).toContain('No results are downloaded. Then the machine and its disk are destroyed. ')
  })

  test('the bid, the checkpoints and the moves', () => {
    const spec = specOf(
      'results: out\ncheckpoint: 5m\noutbid: { elsewhere: 2 }\nmachine: { interruptible: true, price: 0.6 }',
    )
    expect(bidPlanWords(spec, undefined)).toEqual([expect.stringContaining('at most $0.600/h')])
    const words = planAfterwards(spec, { seconds: 86_400, destroys: false }, undefined).join(' ')
    expect(words).toContain('every 5 min')
    expect(words).toContain('at most 2 times')
    expect(bidPlanWords(specOf(''), 100_000)).toEqual([])
  })
})

test.each(['null', '~', ''])(
  'a value %j in a sweep or env is refused as missing, and a quoted one is text',
  value => {
    const problems = (text: string) => 'problems' in readSpec(`run: x\n${text}\n`)
    for (const written of [`sweep: { a: [1, ${value || "''"}] }`, `env: { A: ${value || "''"} }`])
      expect(problems(written), written).toBe(value !== '')
    expect(problems(`sweep: [{ a: ${value} }]`)).toBe(true)
    expect(specOf(`env: { A: "${value}" }`).env).toEqual({ A: value })
  },
)
