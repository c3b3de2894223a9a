import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportText, importPlan, readExport } from '#core/export.ts'
import { importWords } from '#renderer/screens/settings/importWords.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { defaultSettings } from '#shared/settings.ts'
import type { State } from '#shared/state.ts'
import { accountView, emptyState, stateWith } from '../views.ts'

const query = {
  query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 50 },
  filter: { gpus: ['RTX 4090'] },
} as never
const lab = accountView({ name: 'Lab', baseUrl: 'https://gpu.example', userId: 7 })
const given: State = {
  ...stateWith(lab),
  settings: {
    ...defaultSettings,
    theme: 'dark',
    startAtLogin: 'tray',
    sshConfig: true,
    terminal: { ...defaultSettings.terminal, fontSize: 15, command: ['xterm', '-e'] },
  },
  savedSearches: { s1: { id: 's1', name: 'cheap', query } },
  projects: { p1: { id: 'p1', name: 'digits', folder: '~/digits', problems: [] } },
  projectSecrets: ['HF_TOKEN'],
}
const text = exportText(given, 1_790_000_000_000)
/** The same with something changed. */
const changed = (change: object) => JSON.stringify({ ...JSON.parse(text), ...change })

describe('an export', () => {
  test('has what another Berth needs, and nothing of this computer’s programs, keys and start', () => {
    const { settings, ...file } = readExport(text)
    expect(file).toMatchObject({
      accounts: [{ name: 'Lab', baseUrl: 'https://gpu.example', userId: 7 }],
      searches: [{ name: 'cheap', query }],
      projects: ['~/digits'],
      secrets: ['HF_TOKEN'],
    })
    expect(settings).toMatchObject({ theme: 'dark', terminal: { fontSize: 15 } })
    expect(text).not.toMatch(/xterm|startAtLogin|sshConfig|sshKey|commandFile/)
  })

  test('leaves the demo out', () => {
    const demo = { ...lab, id: 'demo', name: 'Demo', demo: true }
    expect(exportText(stateWith(demo), 0)).not.toContain('gpu.example')
  })

  test('changes nothing where it comes from', () => {
    const plan = importPlan(readExport(text), given)
    expect(plan).toMatchObject({ settings: false, accounts: [], folders: [], secrets: [] })
    expect(plan.searches).toEqual({ added: [], replaced: ['cheap'] })
  })

  test('is planned in words before it changes anything', () => {
    const plan = importPlan(readExport(text), emptyState())
    expect(importWords(plan).slice(1)).toEqual([
      'Your settings for display, alerts and searches are replaced.',
      'Saved searches added: cheap.',
      'To run your projects here, copy and add their 1 folder: ~/digits.',
      'Enter these secrets in Projects again: HF_TOKEN.',
      'Limits, runs and watches stay with the other Berth, which goes on acting.',
    ])
  })

  test('is asked about with all that is less safe than now, and with nothing that is as safe', () => {
    const { alerts, quietHours } = defaultSettings
    const lost = (settings: object) => importPlan(readExport(changed({ settings })), given).lessSafe
    const off = Object.fromEntries(Object.keys(alerts).map(kind => [kind, kind === 'ready']))
    expect(
      lost({
        alerts: off,
        lowCreditDollars: 0,
        lowCreditHours: 1,
        quietHours: { on: true, from: '00:00', to: '23:59', critical: false },
        pollInterval: 300,
        rentalDeadline: 7200,
        closeToTray: false,
        tunnelsAtLoopback: true,
      }),
    ).toEqual([
      expect.stringMatching(
        /^Alerts are switched off: low credit, outbid, rented elsewhere, .* and watch\.$/,
      ),
      'No warning any more when credit is below $5.',
      'The warning comes later: when credit lasts less than 1 h instead of 3.',
      'Notifications wait from 00:00 to 23:59.',
      'Critical notifications wait in quiet hours, too.',
      'Accounts are checked every 300 s instead of every 10 s, and limits act that much later.',
      'A rental that doesn’t run is told after 120 min instead of 10 min.',
      'Closing the window quits Berth, and limits don’t act any more.',
      'Pages of instances open at 127.0.0.1, where they share cookies that scripts can read.',
    ])
    expect(lost({})).toEqual([])
    // A Berth that lacks a kind of alert doesn't switch it off here.
    const { rentedElsewhere: _, ...older } = alerts
    expect(lost({ alerts: older })).toEqual([])
    expect(lost({ theme: 'light', alerts, quietHours, pollInterval: 5, lowCreditDollars: 50 })).toEqual([])
    const plan = importPlan(readExport(changed({ settings: { alerts: off } })), given)
    expect(importWords(plan).join('\n')).toMatch(/Less safe than now:\nAlerts are switched off: low credit/)
  })

  test.each([
    ['another format', { format: 'other' }, /no export of Berth/],
    ['a newer version', { version: 2, searches: undefined }, /a newer Berth wrote it\./],
    ['a version of another kind', { version: '1' }, /no export of Berth/],
    ['a missing part', { searches: undefined }, /: searches is missing\./],
    [
      'a setting out of bounds',
      { settings: { pollInterval: 0 } },
      /settings\.pollInterval: at least 2 seconds/,
    ],
    [
      'an address that sends keys in the clear',
      { accounts: [{ name: 'x', baseUrl: 'http://evil.example' }] },
      /address/,
    ],
    [
      'an address with a password',
      { accounts: [{ name: 'x', baseUrl: 'https://a:b@evil.example' }] },
      /address/,
    ],
    ['a secret that is no name', { secrets: ['not a name'] }, /secrets\.0/],
    ['a query of no known kind', { searches: [{ name: 'x', query: { query: {} } }] }, /searches\.0\.query/],
  ])('is refused whole for %s', (_what, change, message) => {
    expect(() => readExport(changed(change))).toThrow(message)
  })

  test.each([
    ['no JSON', 'PK\u0003\u0004', /it isn’t JSON\./],
    ['half a file', text.slice(0, text.length / 2), /it’s damaged or cut off\./],
    ['another JSON', '[]', /no export of Berth\./],
    ['a huge file', `${text}${' '.repeat(2_000_000)}`, /larger than any export\./],
  ])('%s is refused with the reason', (_what, given, message) => {
    expect(() => readExport(given)).toThrow(message)
  })

  test('has names that are one line, as they are seen', () => {
    const signs = '\n\r\u0007\u2028\u202e\u2066\u200b\u3164\u034f\u{e0041} az.'
    const disguise = fc.string({ unit: fc.constantFrom(...signs), maxLength: 20 })
    fc.assert(
      fc.property(disguise, name => {
        const file = readExport(
          changed({
            accounts: [{ name: `a${name}`, baseUrl: 'https://evil.example' }],
            searches: [{ name: `a${name}`, query }],
            projects: [name],
          }),
        )
        const seen = /^a[a-z. ]*$/
        expect(file.accounts[0]?.name).toMatch(seen)
        expect(file.searches[0]?.name).toMatch(seen)
        for (const line of importWords(importPlan(file, emptyState()))) expect(harmless(line)).toBe(line)
      }),
    )
    const nameless = { accounts: [{ name: '\u202e\n', baseUrl: 'https://evil.example' }] }
    expect(() => readExport(changed(nameless))).toThrow(/accounts\.0\.name: enter a name/)
  })

  test('of any other text is refused with a reason, and what Berth doesn’t know is dropped', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), other => {
        expect(() => readExport(other)).toThrow(/can’t be imported/)
      }),
    )
    const extra = changed({
      keys: ['k'],
      settings: { theme: 'light', startAtLogin: 'tray', terminal: { command: ['sh'] } },
    })
    expect(readExport(extra)).not.toHaveProperty('keys')
    expect(readExport(extra).settings).toEqual({ theme: 'light', terminal: {} })
  })
})

test('shortcuts move to another computer, and a file with two for the same keys is refused', () => {
  const { settings, ...rest } = JSON.parse(exportText(given, 0))
  const withKeys = (show: string) =>
    JSON.stringify({ ...rest, settings: { ...settings, shortcuts: { ...settings.shortcuts, show } } })
  expect(readExport(withKeys('Alt+B')).settings.shortcuts?.show).toBe('Alt+B')
  expect(() => readExport(withKeys('CmdOrCtrl+K'))).toThrow(/same keys/)
})
