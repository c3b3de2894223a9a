import { expect, test } from 'vitest'
import type { GuardView } from '../../../../electron/contract/automation/guard.ts'
import { guardDraft, readGuardDraft } from '../../../../renderer/features/guards/guardForm.ts'

const now = 1_800_000_000
const guard = (changes: Partial<GuardView>): GuardView => ({
  id: 'g0123456789abcdef',
  instance: 7,
  condition: { kind: 'duration', from: now - 3720, seconds: 5400 },
  action: 'stop',
  warning: 300,
  missed: 'tell',
  sentence: 'Stops job-0.',
  step: 'waiting',
  history: [],
  ...changes,
})

test('changing a guard offers what is left of its hours, so that its moment stays where only the rest is changed', () => {
  const draft = guardDraft(guard({ dueAt: now + 1680 }), now)
  expect(draft).toMatchObject({ kind: 'duration', hours: '0.47', warning: '5', missed: 'tell' })
  expect(readGuardDraft(draft)).toMatchObject({ wish: { when: { kind: 'duration', seconds: 1692 } } })
})

test('a snoozed moment is offered as it was moved', () => {
  const at = now + 1680
  const time = guardDraft(guard({ condition: { kind: 'time', at: now - 60 }, dueAt: at }), now)
  expect(readGuardDraft(time)).toMatchObject({ wish: { when: { kind: 'time', at: at - (at % 60) } } })
})

test('a guard that is due now can be changed, too', () => {
  const read = readGuardDraft(guardDraft(guard({ dueAt: now - 30 }), now))
  expect(read).toMatchObject({ wish: { when: { kind: 'duration', seconds: 72 } } })
})

test('what is no number is told at its field, with what may be given', () => {
  const draft = { ...guardDraft(guard({ dueAt: now + 60 }), now), hours: '-1' }
  expect(readGuardDraft(draft)).toEqual({ errors: { hours: 'Give a number from 0.02 to 8,760.' } })
})
