import type * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { number, readForm } from '#renderer/components/fields/readForm.ts'
import { removalNotes } from '#renderer/screens/settings/removal.ts'
import { partBefore } from '#renderer/screens/settings/settingChanges.svelte.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { defaultSettings, Settings } from '#shared/settings.ts'
import type { AccountView } from '#shared/state.ts'
import {
  accountView,
  byId,
  instanceView,
  limitView,
  projectRunView,
  rentalView,
  runView,
} from '#test/unit/views.ts'

const { entries } = Settings
const account = accountView({ name: 'Work' })
const instance = instanceView({ id: 1, costPerHour: 2_710_000 })

describe('a number typed for a setting', () => {
  const readSetting = (text: string, schema: v.GenericSchema<number, number>, scale?: number) => {
    const { value, errors } = readForm(schema, number(text, scale))
    return value ?? errors?.['']
  }

  test('is read in the shown unit and stored in the setting’s own', () => {
    expect(readSetting('15', entries.rentalDeadline, 60)).toBe(900)
    expect(readSetting('$2.50', entries.lowCreditDollars)).toBe(2.5)
  })

  test.each([
    ['1', 'At least 2 seconds.'],
    ['301', 'At most 300 seconds.'],
    ['', 'Enter a number.'],
    ['soon', 'Enter a number.'],
  ])('“%s” for the polling interval is refused with its bound', (text, error) => {
    expect(readSetting(text, entries.pollInterval)).toBe(error)
  })

  test('is checked against bounds given in the shown unit', () => {
    expect(readSetting('0.5', entries.rentalDeadline, 60)).toBe('At least 1 minute.')
    expect(readSetting('121', entries.rentalDeadline, 60)).toBe('At most 120 minutes.')
  })
})

test('the values before a change are those of exactly the changed settings', () => {
  const change = { theme: 'dark' as const, pollInterval: 30 }
  expect(partBefore(defaultSettings, change)).toEqual({ theme: 'system', pollInterval: 10 })
  const within = { quietHours: { from: '23:00' }, alerts: { ready: false } }
  expect(partBefore(defaultSettings, within)).toEqual({
    quietHours: { from: '22:00' },
    alerts: { ready: true },
  })
})

describe('removing an account names', () => {
  const said = (changes: Partial<AccountView>) => removalNotes({ ...account, ...changes }, 0).join(' ')

  test('the remaining costs of its instances', () => {
    const two = { '1': instance, '2': { ...instance, id: 2 } }
    expect(said({ instances: two, spendPerHour: 5_420_000 })).toContain(
      'Its 2 instances keep costing $5.420/h',
    )
  })

  test('that it rents nothing, where that is so', () => {
    expect(said({})).toContain('It has no instances.')
  })

  test('that its instances are unknown while the service does not answer', () => {
    const problem = { code: 'offline', message: 'Out of reach.' }
    expect(said({ connection: { status: 'offline', problem } })).toContain('can’t see whether')
  })

  test('a rental under way', () => {
    for (const step of ['asking', 'lost', 'unclear', 'waiting', 'late'] as const) {
      expect(said({ rentals: { r0: rentalView({ step }) } })).toContain('A rental is in progress')
    }
    expect(said({ rentals: { r0: rentalView({ step: 'failed' }) } })).not.toContain('under way')
  })
  test('runs and limits that are forgotten with it, and watchdogs that aren’t', () => {
    const request = { action: 'destroy' as const, at: 7200 }
    const all = said({
      instances: { '1': instance },
      limits: {
        g1: limitView({ id: 'g1', instance: 1 }),
        g2: limitView({ id: 'g2', instance: 1, step: 'off' }),
      },
      watchdogs: { 1: { instance: 1, request, step: 'watching', foreign: false } },
      runs: byId([
        runView({ id: 'a', name: 'digits' }),
        projectRunView({
          id: 'b',
          name: 'letters',
          step: 'failed',
          instance: 1,
          keptUntil: { at: 9, destroys: true },
        }),
      ]),
    })
    for (const words of [
      'Its limit is forgotten.',
      /The watchdog on .* stays, and can’t be changed: “Destroys this instance at/,
      'Berth gives up digits',
      'reminds you of what it keeps for letters',
      'Replace key… keeps all of that',
    ])
      expect(all).toMatch(words)
    expect(said({ instances: { '1': instance } })).not.toContain('Replace key')
  })

  test('a watchdog whose lease will lapse', () => {
    const limit: LimitView = limitView({
      id: 'g1',
      instance: 7,
      when: { kind: 'away', seconds: 600 },
      asleep: true,
    })
    const leased = (given: Partial<LimitView>) => said({ limits: { g1: { ...limit, ...given } } })
    expect(leased({})).toContain('on #7: when it expires')
    expect(leased({ action: 'destroy' })).toContain('destroys the instance and everything')
    expect(leased({ step: 'off' })).not.toContain('expires')
    expect(leased({ when: { kind: 'time', at: 5 } })).not.toContain('expires')
  })
})
