import { expect, test } from 'vitest'
import { createPause, isPaused } from '#core/accounts/pause-polling.ts'
import { createStore } from '#core/storage/store.ts'
import type { Notice } from '#platform/platform.ts'
import { noting } from '#test/berth/account-context.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { emptyState } from '#test/unit/views.ts'

function pauseOf() {
  const store = createStore(emptyState())
  const clock = new HandClock()
  const said: Notice[] = []
  const answers = new Map<string, (action: string | undefined) => void>()
  let polls = 0
  const pause = createPause({
    store,
    clock,
    activity: noting().activity,
    notifications: {
      say(notice, answered) {
        said.push(notice)
        if (answered) answers.set(notice.id, answered)
      },
      withdraw: id => void answers.delete(id),
    },
    pollAccounts: () => {
      polls += 1
    },
  })
  return { store, clock, said, answers, pause, polls: () => polls }
}

test('a pause of an hour is announced, stops polling and ends automatically', async () => {
  const { store, clock, said, answers, pause, polls } = pauseOf()
  pause.begin(60)
  expect(said).toMatchObject([{ title: 'Monitoring is paused for 60 minutes' }])
  expect(store.get().pausedUntil).toBe(clock.now() + 3_600_000)
  await clock.pass(3_599_000)
  pause.pollNow()
  expect(isPaused(store, clock)).toBe(true)
  expect(polls()).toBe(0)
  await clock.pass(1_000)
  expect(polls()).toBe(1)
  expect(store.get().pausedUntil).toBeUndefined()
  expect(answers.size).toBe(0)
})

test('the notice’s button ends the pause at once', () => {
  const { answers, pause, polls, store } = pauseOf()
  pause.begin(60)
  answers.get('pause')?.('resume')
  expect(polls()).toBe(1)
  expect(store.get().pausedUntil).toBeUndefined()
})

test('a pause that ran out during sleep ends on waking', () => {
  const { clock, pause, polls, store } = pauseOf()
  pause.begin(60)
  clock.wall += 3_600_000
  pause.pollNow()
  expect(polls()).toBe(1)
  expect(store.get().pausedUntil).toBeUndefined()
})
