import { expect, test } from 'vitest'
import { sleepWords } from '#renderer/screens/projects/planWords.ts'
import type { Limit } from '#shared/automation/limit.ts'

const hours: Limit = { when: { kind: 'duration', seconds: 7200 }, action: 'stop', asleep: false }
const idle: Limit = { when: { kind: 'idle', below: 5, seconds: 600 }, action: 'stop', asleep: false }

test('a plan says which limits act while this computer sleeps', () => {
  expect(sleepWords([], true)).toBeUndefined()
  expect(sleepWords([idle], false)).toBe(
    'If this computer sleeps through one of these limits, the limit acts when it wakes.',
  )
  expect(sleepWords([hours, idle], false)).toBe(
    'A watchdog on the machine applies one of these limits even while this computer sleeps; the other acts when it wakes.',
  )
  expect(sleepWords([hours], true)).toBe(
    'A watchdog on each machine applies these limits even while this computer sleeps.',
  )
  expect(sleepWords([hours, idle], true)).toBe(
    'A watchdog on each machine applies one of these limits even while this computer sleeps; the other acts when it wakes.',
  )
})
