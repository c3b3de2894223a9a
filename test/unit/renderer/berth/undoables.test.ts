import { expect, test } from 'vitest'
import { Undoables, type Waiting } from '../../../../renderer/berth/undoables.ts'

/** Undoables on a clock that is moved by hand, a second at a time. */
function byHand() {
  const waiting = new Set<() => void>()
  let shown: readonly Waiting[] = []
  const undoables = new Undoables(
    (_, act) => {
      waiting.add(act)
      return () => waiting.delete(act)
    },
    all => {
      shown = all
    },
  )
  const done: string[] = []
  return {
    undoables,
    shown: () => shown,
    done,
    begin: (key: string) =>
      undoables.begin({
        key,
        title: `Stopping ${key}`,
        undone: `${key} was not stopped.`,
        act: () => done.push(key),
      }),
    pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1)
        for (const act of [...waiting]) {
          waiting.delete(act)
          act()
        }
    },
  }
}

test('what is asked for is done after five seconds, counted down', () => {
  const { shown, done, begin, pass } = byHand()
  begin('a')
  expect(shown()).toMatchObject([{ title: 'Stopping a', seconds: 5 }])
  pass(4)
  expect(shown()).toMatchObject([{ seconds: 1 }])
  expect(done).toEqual([])
  pass(1)
  expect(done).toEqual(['a'])
  expect(shown()).toEqual([])
})

test('what is undone is never done, and the newest is undone first', () => {
  const { undoables, done, begin, pass } = byHand()
  begin('a')
  begin('b')
  expect(undoables.undo()?.undone).toBe('b was not stopped.')
  pass(10)
  expect(done).toEqual(['a'])
  expect(undoables.undo()).toBeUndefined()
})

test('asked for twice, it is done once', () => {
  const { done, begin, pass } = byHand()
  begin('a')
  pass(2)
  begin('a')
  pass(10)
  expect(done).toEqual(['a'])
})

test('what waits when the page goes is done then, and not again', () => {
  const { undoables, done, begin, pass } = byHand()
  begin('a')
  begin('b')
  undoables.sendAll()
  expect(done).toEqual(['a', 'b'])
  pass(10)
  expect(done).toEqual(['a', 'b'])
})
