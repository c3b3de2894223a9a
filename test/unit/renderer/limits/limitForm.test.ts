import * as v from 'valibot'
import { expect, test } from 'vitest'
import { isUnchanged, limitDraft, readLimitDraft } from '#renderer/features/limits/limitForm.ts'
import { type LimitView, LimitWhen } from '#shared/automation/limit.ts'
import { limitView } from '#test/unit/views.ts'

const now = 1_800_000_000
const limit = (changes: Partial<LimitView>): LimitView =>
  limitView({
    id: 'g0123456789abcdef',
    instance: 7,
    when: { kind: 'duration', seconds: 5400 },
    warning: 300,
    missed: 'tell',
    setAt: now - 3720,
    sentence: 'Stops job-0.',
    ...changes,
  })

test('editing a duration limit offers the hours left', () => {
  const draft = limitDraft(limit({ dueAt: now + 1680 }), now)
  expect(draft).toMatchObject({ choice: 'duration', typed: { hours: '0.47' }, warning: '5', missed: 'tell' })
  expect(readLimitDraft(draft)).toMatchObject({ value: { when: { kind: 'duration', seconds: 1692 } } })
})

test('a limit whose condition is not edited keeps its moment, however long the form is open', () => {
  for (const when of [
    { kind: 'duration', seconds: 5400 },
    { kind: 'time', at: now + 1687 },
  ] as const) {
    const opened = limit({ when, dueAt: now + 1687 })
    const before = { limit: opened, draft: limitDraft(opened, now) }
    const warned = { ...before.draft, warning: '15' }
    expect(readLimitDraft(warned, before)).toMatchObject({ value: { when, sameWhen: true, warning: 900 } })
    expect([isUnchanged(before.draft, before.draft), isUnchanged(warned, before.draft)]).toEqual([
      true,
      false,
    ])
  }
  const opened = limit({ dueAt: now + 1687 })
  const before = { limit: opened, draft: limitDraft(opened, now) }
  const later = { ...before.draft, typed: { ...before.draft.typed, hours: '2' } }
  expect(readLimitDraft(later, before).value).toMatchObject({ when: { kind: 'duration', seconds: 7200 } })
  expect(readLimitDraft(later, before).value?.sameWhen).toBeUndefined()
})

test('editing a snoozed limit offers its new time', () => {
  const at = now + 1680
  const time = limitDraft(limit({ when: { kind: 'time', at: now - 60 }, dueAt: at }), now)
  expect(readLimitDraft(time)).toMatchObject({ value: { when: { kind: 'time', at: at - (at % 60) } } })
})

test('a limit that is due can be edited', () => {
  const read = readLimitDraft(limitDraft(limit({ dueAt: now - 30 }), now))
  expect(read).toMatchObject({ value: { when: { kind: 'duration', seconds: 72 } } })
})

test('an invalid value is an error at its field', () => {
  const errors = (when: LimitView['when'], typed: Record<string, string>) =>
    readLimitDraft({ ...limitDraft(limit({ when }), now), typed })
  expect(errors({ kind: 'duration', seconds: 60 }, { hours: '-1' })).toEqual({
    errors: { hours: 'At least a minute.' },
  })
  expect(errors({ kind: 'idle', below: 5, seconds: 60 }, { load: 'x', minutes: '1' })).toEqual({
    errors: { load: 'Enter the load in percent.' },
  })
  expect(errors({ kind: 'budget', per: 'day', dollars: 1 }, { dollars: '0' })).toEqual({
    errors: { dollars: 'At least $0.01.' },
  })
  expect(errors({ kind: 'time', at: 0 }, { time: '' })).toEqual({
    errors: { time: 'Enter a date and a time.' },
  })
})

test('every condition survives the form unchanged', () => {
  const conditions: LimitView['when'][] = [
    { kind: 'time', at: now + 3600 - (now % 60) },
    { kind: 'duration', seconds: 7200 },
    { kind: 'idle', below: 7, seconds: 600 },
    { kind: 'away', seconds: 5400 },
    { kind: 'cost', dollars: 2.5 },
    { kind: 'budget', per: 'day', dollars: 5 },
    { kind: 'budget', per: 'month', dollars: 5 },
    { kind: 'credit', hours: 3.5 },
  ]
  for (const when of conditions) {
    const read = readLimitDraft(limitDraft(limit({ when, setAt: now }), now))
    expect(v.parse(LimitWhen, read.value?.when)).toEqual(when)
  }
})
