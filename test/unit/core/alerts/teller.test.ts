import { expect, test } from 'vitest'
import type { InstanceState } from '../../../../electron/contract/instance.ts'
import { defaultSettings } from '../../../../electron/contract/settings.ts'
import { alerts } from '../../../../electron/core/alerts/alerts.ts'
import { createTeller } from '../../../../electron/core/alerts/teller.ts'
import { createStore } from '../../../../electron/core/store.ts'
import type { Notifier } from '../../../../electron/ports/notifier.ts'
import { HandClock } from '../hand-clock.ts'
import { accountView, emptyState, instanceView } from '../views.ts'

function tellerOnPage() {
  const store = createStore(emptyState())
  const closed: string[] = []
  const notifier: Notifier = {
    available: false,
    show: async () => undefined,
    close: async id => void closed.push(id),
    onClick: () => undefined,
  }
  const activity = { add: () => undefined, search: () => [], flush: async () => undefined }
  const teller = createTeller(store, new HandClock(), notifier, activity)
  /** A fresh look, with what it tells. */
  function look(account: ReturnType<typeof accountView>): string[] {
    const { alerts: found, told } = alerts(undefined, account, defaultSettings)
    teller.takeBack(account, told)
    teller.tell(account.id, found)
    return Object.keys(store.get().notices)
  }
  return { look, closed, store }
}

const withState = (word: InstanceState) =>
  accountView({ credit: 900_000_000 }, instanceView({ state: word, actualStatus: word }))

test('a notice goes when the machine it tells of is in another state, and the desktop is told to close it', () => {
  const { look, closed } = tellerOnPage()
  expect(look(withState('outbid'))).toHaveLength(1)
  expect(look(withState('running'))).toEqual([])
  expect(closed).toHaveLength(1)
})

test('a notice goes with the machine it tells of', () => {
  const { look } = tellerOnPage()
  expect(look(withState('crashed'))).toHaveLength(1)
  expect(look(accountView({ credit: 900_000_000 }))).toEqual([])
})

test.each([
  ['alone', [], false, false],
  ['beside the demo', ['demo'], false, false],
  ['beside another', ['a00000002'], false, true],
  ['that is the demo beside another', ['a00000002'], true, true],
  ['that is the demo alone', [], true, false],
] as const)(
  'a notice of an account %s names it only where it could be another’s',
  (_, others, demo, named) => {
    const { look, store } = tellerOnPage()
    const account = { ...withState('outbid'), demo }
    store.change(draft => {
      draft.accounts[account.id] = account
      for (const id of others) draft.accounts[id] = accountView({ id, name: 'Other', demo: id === 'demo' })
    })
    look(account)
    const [notice] = Object.values(store.get().notices)
    expect(notice?.body.startsWith('Lab: ')).toBe(named)
  },
)

test('the notice of low credit goes once there is credit again', () => {
  const { look } = tellerOnPage()
  expect(look(accountView({ credit: 1_000_000 }))).toHaveLength(1)
  expect(look(accountView({ credit: 900_000_000 }))).toEqual([])
})
