import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueOf, limitActions } from '#core/limits/decide.ts'
import { type StoredLimit, withoutWarning } from '#core/limits/model.ts'
import { limitAfterActing, limitHeld, limitMissed, limitWarned } from '#core/limits/transitions.ts'
import { instanceView } from '#test/unit/views.ts'
import { limitFacts, storedLimit } from './stored-limit.ts'

const start = 1_800_000_000
const gap = 600
const hour = 3600

type Event = { wait: number; answers: boolean } | { minutes: number }

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 900 }), answers: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 1000, max: 9000 }), answers: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ minutes: fc.constantFrom(15, 60) }) },
)

/** What a limit with a fixed moment must say at each poll, in the simplest form. */
function plain(history: readonly Event[], warning: number, missed: StoredLimit['missed']): string[] {
  let [now, due, last] = [start, start + hour, start]
  let [warned, held, ended] = [false, false, false]
  const poll = (answers: boolean): string => {
    const slept = last < due && now - last > gap && now - due > gap && !held
    if (answers) last = now
    if (ended) return ''
    if (due - now > warning + 300) {
      warned = false
      return ''
    }
    if (now < due) {
      if (warned || warning === 0 || due - now > warning) return ''
      warned = true
      return 'warn'
    }
    if (!answers) {
      if (held) return ''
      held = true
      return 'hold'
    }
    ended = true
    return slept && missed === 'tell' ? 'missed' : 'act'
  }
  return history.map(happens => {
    if ('wait' in happens) {
      now += happens.wait
      return poll(happens.answers)
    }
    if (!ended) due = Math.max(now, due) + happens.minutes * 60
    warned = false
    held = false
    return ''
  })
}

/** What Berth's decisions and their outcomes say. */
function real(history: readonly Event[], warning: number, missed: StoredLimit['missed']): string[] {
  let now = start
  let seenAt: number | undefined = start
  let limit = storedLimit({ when: { kind: 'duration', seconds: hour }, warning, missed, setAt: start })
  const facts = () => limitFacts(now, { instances: { 7: instanceView({ id: 7 }) }, spendPerHour: 0 })
  const poll = (fresh: boolean): string => {
    const snapshot = { facts: facts(), fresh, sure: true, seenAt, gap, acted: new Set<number>() }
    const [decision] = limitActions(snapshot, [limit], now)
    if (fresh) seenAt = now
    if (!decision) return ''
    if (decision.kind === 'calm') limit = withoutWarning(decision.limit)
    else if (decision.kind === 'warn') limit = limitWarned(decision.limit, decision.dueAt, now)
    else if (decision.kind === 'hold') limit = limitHeld(decision.limit, decision, now)
    else if (decision.kind === 'missed') limit = limitMissed(decision.limit, decision.dueAt, now)
    else if (decision.kind === 'act') limit = limitAfterActing(decision.limit, decision.targets, facts(), now)
    else throw new Error(`the history has no ${decision.kind}`)
    return decision.kind === 'calm' ? '' : decision.kind
  }
  return history.map(happens => {
    if ('wait' in happens) {
      now += happens.wait
      return poll(happens.answers)
    }
    const due = dueOf(limit, facts()) ?? now
    if (!limit.ended)
      limit = { ...withoutWarning(limit), snoozedUntil: Math.max(now, due) + happens.minutes * 60 }
    return ''
  })
}

test('over generated histories a limit warns, waits, misses its moment and acts as its plain model does', () => {
  const said = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 5, maxLength: 40 }),
      fc.constantFrom(0, 900),
      fc.constantFrom('act' as const, 'tell' as const),
      (history, warning, missed) => {
        const told = plain(history, warning, missed)
        for (const word of told) said.add(word)
        expect(real(history, warning, missed)).toEqual(told)
      },
    ),
    { numRuns: 1000 },
  )
  expect([...said].sort()).toEqual(['', 'act', 'hold', 'missed', 'warn'])
})
