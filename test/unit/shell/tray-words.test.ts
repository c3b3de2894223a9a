import { expect, test } from 'vitest'
import type { LimitView } from '#contract/automation/limit.ts'
import { BerthError } from '#contract/problem.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import { trayActions } from '#shell/tray/tray-actions.ts'
import { word } from '#shell/tray/tray-words.ts'
import { accountView, instanceView, limitView, stateWith } from '../views.ts'

const family = '👩‍👩‍👧‍👦'

test.each([
  [family, family],
  ['می‌خواهم', 'می‌خواهم'],
  ['flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301', 'flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301'],
  ['half \ud83d of one', 'half \ufffd of one'],
  ['un\u200bseen\u00ad and \u202eturned\u2066', 'unseen and turned'],
  ['two\n lines\u2028', 'two  lines'],
  ['\u200d \u200c', ''],
])('a label %j is shown as %j, in the tray as in the window', (label, shown) => {
  expect(word(label)).toBe(shown)
  expect(cleanLine(label) ?? '').toBe(shown)
})

test('a long label is cut between letters as readers see them', () => {
  expect(word(family.repeat(40))).toBe(`${family.repeat(31)}…`)
  expect(word(`${'x'.repeat(31)}e\u0301`)).toBe(`${'x'.repeat(31)}e\u0301`)
  expect(word(`${'x'.repeat(31)}e\u0301y`)).toBe(`${'x'.repeat(31)}…`)
  expect(cleanLine(`${'x'.repeat(498)}🤖🤖🤖`)).toBe(`${'x'.repeat(498)}🤖…`)
  const marked = word(`a${'\u0301'.repeat(5000)}`)
  expect(marked.length).toBeLessThan(700)
})

const stopped = instanceView({ id: 4711, state: 'stopped', costPerHour: 2000, pricePerHour: 400_000 })
const limit: LimitView = limitView({ when: { kind: 'credit', hours: 200 }, warning: 900 })

/** A limit that has stopped the instance, and holds again once it is started. */
const timed: Partial<LimitView> = {
  instance: 4711,
  when: { kind: 'duration', seconds: 60 },
  step: 'done',
}

/** What a click on Start does: commands by name, questions by place, notices by title. */
async function started(given: Partial<LimitView>, answer = async () => undefined): Promise<string[]> {
  const account = accountView({ limits: { one: { ...limit, ...given } } }, stopped)
  const done: string[] = []
  const act = trayActions({
    berth: {
      state: () => stateWith(account),
      dispatch: name => {
        done.push(name)
        return answer()
      },
      goTo: (_account, place) => void done.push(`ask ${'ask' in place ? place.ask : ''}`),
      say: ({ title }) => void done.push(title),
    },
    openWindow: () => undefined,
    quit: () => undefined,
    copy: async () => undefined,
    now: () => 1_000_000,
  })
  await act({ kind: 'start', account: account.id, instance: 4711, what: 'start it' })
  return done
}

test('Start asks on the page if a limit would stop it again at once or nothing would, else it starts', async () => {
  expect(await started({})).toEqual(['ask start'])
  expect(await started({ when: { kind: 'credit', hours: 100 } })).toEqual(['startInstance'])
  expect(await started({ snoozedUntil: 1001 })).toEqual(['startInstance'])
  expect(await started({ instance: 4712 })).toEqual(['ask start'])
  expect(await started({ step: 'off' })).toEqual(['ask start'])
  expect(await started(timed)).toEqual(['startInstance'])
})

test('a failed start is shown as a notice', async () => {
  const refused = async () => {
    throw new BerthError({ code: 'refused', message: 'No.' })
  }
  expect(await started(timed, refused)).toEqual(['startInstance', 'Could not start it'])
})
