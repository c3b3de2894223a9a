import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { GuardView } from '#contract/automation/guard.ts'
import { GuardRequest } from '#contract/automation/guard-kinds.ts'
import { guardDraft, readGuardDraft } from '#renderer/features/guards/guardForm.ts'

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

test('editing a duration guard offers the hours left', () => {
  const draft = guardDraft(guard({ dueAt: now + 1680 }), now)
  expect(draft).toMatchObject({ choice: 'duration', typed: { hours: '0.47' }, warning: '5', missed: 'tell' })
  expect(readGuardDraft(draft)).toMatchObject({ value: { when: { kind: 'duration', seconds: 1692 } } })
})

test('editing a snoozed guard offers its new time', () => {
  const at = now + 1680
  const time = guardDraft(guard({ condition: { kind: 'time', at: now - 60 }, dueAt: at }), now)
  expect(readGuardDraft(time)).toMatchObject({ value: { when: { kind: 'time', at: at - (at % 60) } } })
})

test('a guard that is due can be edited', () => {
  const read = readGuardDraft(guardDraft(guard({ dueAt: now - 30 }), now))
  expect(read).toMatchObject({ value: { when: { kind: 'duration', seconds: 72 } } })
})

test('an invalid value is an error at its field', () => {
  const errors = (condition: GuardView['condition'], typed: Record<string, string>) =>
    readGuardDraft({ ...guardDraft(guard({ condition }), now), typed })
  expect(errors({ kind: 'duration', from: now, seconds: 60 }, { hours: '-1' })).toEqual({
    errors: { hours: 'At least a minute.' },
  })
  expect(errors({ kind: 'idle', below: 5, seconds: 60 }, { load: 'x', minutes: '1' })).toEqual({
    errors: { load: 'Give the load in percent.' },
  })
  expect(errors({ kind: 'budget', per: 'day', limit: 1 }, { dollars: '0' })).toEqual({
    errors: { dollars: 'At least $0.01.' },
  })
  expect(errors({ kind: 'time', at: 0 }, { time: '' })).toEqual({
    errors: { time: 'Give a date and a time.' },
  })
})

test('every condition survives the form unchanged', () => {
  const conditions: GuardView['condition'][] = [
    { kind: 'time', at: now + 3600 - (now % 60) },
    { kind: 'duration', from: now, seconds: 7200 },
    { kind: 'idle', below: 7, seconds: 600 },
    { kind: 'cost', limit: 2_500_000 },
    { kind: 'budget', per: 'day', limit: 5_000_000 },
    { kind: 'budget', per: 'month', limit: 5_000_000 },
    { kind: 'credit', hours: 3.5 },
  ]
  for (const condition of conditions) {
    const read = readGuardDraft(guardDraft(guard({ condition }), now))
    const when = read.value ? read.value.when : expect.fail(condition.kind)
    const kept = v.parse(GuardRequest, when)
    expect(kept.kind === 'duration' ? { ...kept, from: now } : kept).toEqual(condition)
  }
})
