import { describe, expect, test } from 'vitest'
import type { Transfer } from '#core/copies/record.ts'
import { follow, lateness, longestCopySilence, patience } from '#core/copies/step.ts'

function copy(given: Partial<Transfer> = {}): Transfer {
  return {
    id: 't0000000000000001',
    kind: 'copy',
    from: { instance: 1, path: '/data' },
    to: { instance: 2, path: '/copy' },
    step: 'running',
    startedAt: 1000,
    ...given,
  }
}
const saying = (line?: string) => (line === undefined ? {} : { statusMessage: line })
const later = 1000 + lateness
const followed = (line: string | undefined, transfer = copy(), now = later) =>
  follow(transfer, [], { 1: {}, 2: saying(line) }, now)

describe('the status line', () => {
  test('a percentage is the progress', () => {
    expect(followed('Copy of C.1:/data to C.2:/copy: 45 %')).toMatchObject({
      step: 'running',
      progress: 0.45,
    })
  })

  test('the word after the paths is the outcome', () => {
    expect(followed('Copy of C.1:/data to C.2:/copy: done')).toMatchObject({
      step: 'done',
      progress: 1,
      endedAt: later,
    })
    expect(followed('Copy of C.1:/data to C.2:/copy: failed, an instance stopped running').step).toBe(
      'failed',
    )
    expect(followed('Copy of C.1:/data to C.2:/copy: cancelled').step).toBe('cancelled')
  })

  test('paths named like an outcome are not one', () => {
    const transfer = copy({ from: { instance: 1, path: '/done' }, to: { instance: 2, path: '/failed' } })
    expect(followed('Copy of C.1:/done to C.2:/failed: 10 %', transfer)).toMatchObject({
      step: 'running',
      progress: 0.1,
    })
  })

  test('the line of either instance counts', () => {
    const line = 'Copy of C.1:/data to C.2:/copy: 45 %'
    expect(follow(copy(), [], { 1: saying(line), 2: {} }, later).progress).toBe(0.45)
  })

  test('a line that comes too early is of an older transfer', () => {
    expect(followed('Copy of C.1:/data to C.2:/copy: done', copy(), 1000 + 20)).toEqual(copy())
  })

  test('a line of another transfer is ignored', () => {
    const other = copy({ id: 't0000000000000002', to: { instance: 2, path: '/elsewhere' } })
    const instances = { 1: {}, 2: saying('Copy of C.1:/data to C.2:/elsewhere: done') }
    expect(follow(copy(), [other], instances, later)).toEqual(copy())
    expect(followed('Cloud sync of C.2:/copy to cloud:/data: done')).toEqual(copy())
    expect(followed('Copy of C.1:/data2 to C.2:/my/copy: done')).toEqual(copy())
    expect(followed('Successfully loaded pytorch/pytorch')).toEqual(copy())
  })

  test('of two transfers between the same paths, the line means the later one', () => {
    const again = copy({ id: 't0000000000000002', startedAt: 1010 })
    const instances = { 1: {}, 2: saying('Copy of C.1:/data to C.2:/copy: 5 %') }
    expect(follow(copy(), [again], instances, later + 10)).toEqual(copy())
    expect(follow(again, [copy()], instances, later + 10).progress).toBe(0.05)
  })

  test('a line without paths counts if only one transfer can be meant', () => {
    expect(followed('rsync: 12.5%')).toMatchObject({ progress: 0.125 })
    const other = copy({ id: 't0000000000000002', to: { instance: 2, path: '/elsewhere' } })
    expect(follow(copy(), [other], { 1: {}, 2: saying('copying 12%') }, later)).toEqual(copy())
  })
})

describe('when the status line is silent', () => {
  test('the outcome is unknown after a while', () => {
    const silent = followed(undefined, copy(), later + patience)
    expect(silent).toMatchObject({ step: 'unknown', message: 'The service doesn’t report it.' })
    expect(silent.endedAt).toBeUndefined()
    const told = followed(undefined, copy({ reportedAt: later, progress: 0.9 }), later + patience)
    expect(told).toMatchObject({
      step: 'unknown',
      message: 'The service no longer reports it.',
      progress: 0.9,
    })
  })

  test('the transfer ends as unknown after a day', () => {
    const unknown = copy({ step: 'unknown' })
    expect(followed(undefined, unknown, later + longestCopySilence.copy - 1).endedAt).toBeUndefined()
    expect(followed(undefined, unknown, later + longestCopySilence.copy)).toMatchObject({
      step: 'unknown',
      endedAt: later + longestCopySilence.copy,
    })
  })

  test('a line that comes after all is believed', () => {
    expect(followed('Copy of C.1:/data to C.2:/copy: 45 %', copy({ step: 'unknown' })).step).toBe('running')
  })

  test('a transfer whose instance is gone ends as unknown', () => {
    expect(follow(copy(), [], { 1: {} }, later)).toMatchObject({ step: 'unknown', endedAt: later })
  })

  test('an ended transfer doesn’t change', () => {
    const done = copy({ step: 'done', endedAt: 1100 })
    expect(follow(done, [], {}, 5000)).toBe(done)
  })
})
