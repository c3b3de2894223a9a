import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { LimitView } from '#contract/automation/limit.ts'
import { LimitRequest } from '#contract/automation/limit-kinds.ts'
import { limitDraft, readLimitDraft } from '#renderer/features/limits/limitForm.ts'

const now = 1_800_000_000
const limit = (changes: Partial<LimitView>): LimitView => ({
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

test('editing a duration limit offers the hours left', () => {
  const draft = limitDraft(limit({ dueAt: now + 1680 }), now)
  expect(draft).toMatchObject({ choice: 'duration', typed: { hours: '0.47' }, warning: '5', missed: 'tell' })
  expect(readLimitDraft(draft)).toMatchObject({ value: { when: { kind: 'duration', seconds: 1692 } } })
})

test('editing a snoozed limit offers its new time', () => {
  const at = now + 1680
  const time = limitDraft(limit({ condition: { kind: 'time', at: now - 60 }, dueAt: at }), now)
  expect(readLimitDraft(time)).toMatchObject({ value: { when: { kind: 'time', at: at - (at % 60) } } })
})

test('a limit that is due can be edited', () => {
  const read = readLimitDraft(limitDraft(limit({ dueAt: now - 30 }), now))
  expect(read).toMatchObject({ value: { when: { kind: 'duration', seconds: 72 } } })
})

test('an invalid value is an error at its field', () => {
  const errors = (condition: LimitView['condition'], typed: Record<string, string>) =>
    readLimitDraft({ ...limitDraft(limit({ condition }), now), typed })
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
  const conditions: LimitView['condition'][] = [
    { kind: 'time', at: now + 3600 - (now % 60) },
    { kind: 'duration', from: now, seconds: 7200 },
    { kind: 'idle', below: 7, seconds: 600 },
    { kind: 'cost', limit: 2_500_000 },
    { kind: 'budget', per: 'day', limit: 5_000_000 },
    { kind: 'budget', per: 'month', limit: 5_000_000 },
    { kind: 'credit', hours: 3.5 },
  ]
  for (const condition of conditions) {
    const read = readLimitDraft(limitDraft(limit({ condition }), now))
    const when = read.value ? read.value.when : expect.fail(condition.kind)
    const kept = v.parse(LimitRequest, when)
    expect(kept.kind === 'duration' ? { ...kept, from: now } : kept).toEqual(condition)
  }
})
