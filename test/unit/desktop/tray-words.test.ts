import { expect, test } from 'vitest'
import { cleanLine } from '#core/instances/instance-view.ts'
import { trayActions } from '#desktop/tray/tray-actions.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { word } from '#shared/instance/short-lines.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, limitView, runView, stateWith } from '../views.ts'

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

/** What a click on Start or Stop does: actions by name, questions by place or title, notices by title. */
async function clicked(
  action: 'start' | 'stop',
  account: AccountView,
  { answer = async () => undefined, confirms = false } = {},
): Promise<string[]> {
  const done: string[] = []
  const act = trayActions({
    berth: {
      state: () => stateWith(account),
      dispatch: async () => undefined,
      act: (_on, what) => {
        done.push(what)
        return answer()
      },
      goTo: (_account, place) => void done.push(`ask ${'ask' in place ? place.ask : ''}`),
      say: ({ title }) => void done.push(title),
    },
    openWindow: () => undefined,
    quit: () => undefined,
    ask: async ({ title, lines }) => {
      done.push([title, ...lines].join(' '))
      return confirms
    },
    copy: async () => undefined,
    now: () => 1_000_000,
  })
  await act({ kind: 'act', action, account: account.id, instance: 4711, what: `${action} it` })
  return done
}

function started(given: Partial<LimitView>, answer = async () => undefined): Promise<string[]> {
  return clicked('start', accountView({ limits: { one: { ...limit, ...given } } }, stopped), { answer })
}

test('Stop names the run that it ends, and stops only once that is confirmed', async () => {
  const running = instanceView({ id: 4711, label: 'box' })
  expect(await clicked('stop', accountView({}, running))).toEqual(['stop'])
  const runs = { one: runView({ instance: 4711, name: 'train' }) }
  const question =
    'Stop box #4711? A run on it ends before it has finished: train. Files are kept; the disk is still billed.'
  expect(await clicked('stop', accountView({ runs }, running))).toEqual([question])
  expect(await clicked('stop', accountView({ runs }, running), { confirms: true })).toEqual([
    question,
    'stop',
  ])
})

test('Start asks on the page if a limit would stop it again at once or nothing would, else it starts', async () => {
  expect(await started({})).toEqual(['ask start'])
  expect(await started({ when: { kind: 'credit', hours: 100 } })).toEqual(['start'])
  expect(await started({ snoozedUntil: 1001 })).toEqual(['start'])
  expect(await started({ instance: 4712 })).toEqual(['ask start'])
  expect(await started({ step: 'off' })).toEqual(['ask start'])
  expect(await started(timed)).toEqual(['start'])
})

test('a failed start is shown as a notice', async () => {
  const refused = async () => {
    throw new BerthError({ code: 'refused', message: 'No.' })
  }
  expect(await started(timed, refused)).toEqual(['start', 'Could not start it'])
})
