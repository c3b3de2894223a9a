import { describe, expect, test } from 'vitest'
import { decisionOf, groupNotices, latestAlerts, newsIn } from '#renderer/frame/notices/noticeList.ts'
import type { PageNotice } from '#shared/state.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const show = { id: 'show', label: 'Show' }
function notice(id: string, title: string, more: Partial<PageNotice> = {}): PageNotice {
  return { id, account: 'a', at: 1, title, body: '', urgency: 'normal', actions: [show], ...more }
}
const outbid = (instance: number, at = 1) =>
  notice(`outbid ${instance}`, `V100 #${instance} was outbid`, {
    at,
    instance,
    kind: 'outbid',
    urgency: 'critical',
  })

test('the latest alerts are the account’s and those of none, the newest first', () => {
  const entry = (id: string, kind: 'alert' | 'user', account?: string) => ({
    id,
    kind,
    account,
    at: 1,
    text: id,
  })
  const all = [
    entry('1', 'alert', 'a'),
    entry('2', 'user', 'a'),
    entry('3', 'alert', 'b'),
    entry('4', 'alert'),
  ]
  const activity = Object.fromEntries(
    all.map(({ account, ...one }) => [one.id, account ? { ...one, account } : one]),
  )
  expect(latestAlerts(activity, 'a').map(({ id }) => id)).toEqual(['4', '1'])
})

describe('the strip', () => {
  const account = accountView({ id: 'a' }, instanceView({ id: 7 }))

  test('shows the newest decision, no good news or notices without a button', () => {
    const news = [
      notice('ready', 'V100 #5 is ready', { at: 9 }),
      notice('failed', 'It failed', { at: 8, urgency: 'critical', actions: [] }),
    ]
    expect(decisionOf(news, 'offers', account)).toBeUndefined()
    expect(decisionOf([...news, outbid(6), outbid(7, 2)], 'offers', account)?.instance).toBe(7)
  })

  test('asks to rent a watch’s match after all critical notices', () => {
    const rent = { id: 'rent', label: 'Rent…' }
    const found = notice('watch', 'RTX 4090 at $0.300/h', { kind: 'watch', actions: [rent, show], at: 9 })
    expect(decisionOf([found], 'offers', account)?.id).toBe('watch')
    expect(decisionOf([found, outbid(6)], 'offers', account)?.instance).toBe(6)
    expect(decisionOf([{ ...found, actions: [show] }], 'offers', account)).toBeUndefined()
  })

  test('omits notices that rows of Instances and of Home show', () => {
    expect(decisionOf([outbid(7)], 'instances', account)).toBeUndefined()
    expect(decisionOf([outbid(7)], 'home', account)).toBeUndefined()
    expect(decisionOf([outbid(7)], 'offers', account)?.instance).toBe(7)
    expect(decisionOf([outbid(8)], 'instances', account)?.instance).toBe(8)
    expect(decisionOf([{ ...outbid(7), account: 'b' }], 'instances', account)?.instance).toBe(7)
  })
})

describe('groups', () => {
  const stopped = [11, 12, 13, 14, 15].map(id =>
    notice(`limit ${id}`, `Stopped my #2 job #${id}`, {
      instance: id,
      kind: 'limit',
      body: 'Its 8 h are up.',
    }),
  )

  test('five equal notices become one with their common text', () => {
    const groups = groupNotices([outbid(7), ...stopped])
    expect(groups.map(({ title, body, notices }) => [title, body, notices.length])).toEqual([
      [undefined, undefined, 1],
      ['5 instances stopped', 'Their 8 h are up.', 5],
    ])
  })

  test('verbs are plural, and differences stay with each notice', () => {
    const [group] = groupNotices([1, 2, 3].map(id => ({ ...outbid(id), body: `Someone bids $${id}.` })))
    expect(group).toMatchObject({ title: '3 instances were outbid' })
    expect(group?.body).toBeUndefined()
  })

  test('two notices stay separate, as do those of no instance or another account', () => {
    const two = stopped.slice(0, 2)
    expect(groupNotices(two)).toHaveLength(2)
    expect(groupNotices([...two, { ...stopped[2], account: 'b' } as PageNotice])).toHaveLength(3)
    expect(groupNotices(['x', 'y', 'z'].map(id => notice(id, 'Renting failed')))).toHaveLength(3)
  })
})

test('a toast shows new or changed events, not growing figures', () => {
  const credit = notice('credit', '$4.00 of credit left', { kind: 'lowCredit' })
  const ready = notice('1', 'V100 #1 is ready', { kind: 'ready' })
  const before = { credit, 1: ready }
  const after = {
    credit: { ...credit, title: '$3.00 of credit left' },
    1: outbid(1),
    2: ready,
  }
  expect(newsIn(before, { ...before }).length).toBe(0)
  expect(newsIn(before, { ...after, 1: { ...outbid(1), id: '1' } }).map(({ title }) => title)).toEqual([
    'V100 #1 was outbid',
  ])
  expect(newsIn({}, before)).toHaveLength(2)
  const gone = { credit: { ...credit, title: 'No credit left: −$3.40' } }
  expect(newsIn(before, gone)).toHaveLength(1)
  expect(newsIn(gone, { credit: { ...credit, title: 'No credit left: −$3.41' } })).toHaveLength(0)
})
