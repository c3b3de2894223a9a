import { describe, expect, test } from 'vitest'
import { groupRows, prefixOf } from '#renderer/screens/instances/groupRows.ts'
import { filterRows, instanceRows } from '#renderer/screens/instances/rows.ts'
import {
  concerned,
  prefixed,
  selectionCostWords,
  selectionCsv,
} from '#renderer/screens/instances/selection/bulk.ts'
import {
  extendTo,
  nothingSelected,
  selectedOf,
  toggle,
  toggleAll,
  within,
} from '#renderer/screens/instances/selection/selection.ts'
import { tagsIn } from '#shared/instance/instance.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

describe('a selection', () => {
  const shown = [9, 7, 5, 3, 1]

  test('grows by a click, a range from there in either direction, and all', () => {
    const one = toggle(nothingSelected, 5)
    expect([...extendTo(one, shown, 9).ids].sort()).toEqual([5, 7, 9])
    expect([...extendTo(one, shown, 1).ids].sort()).toEqual([1, 3, 5])
    // The range begins at the row that was clicked, however often it is extended.
    expect([...extendTo(extendTo(one, shown, 7), shown, 3).ids].sort()).toEqual([3, 5, 7])
    expect(toggle(one, 5).ids.size).toBe(0)
    expect(selectedOf(toggleAll(one, shown), shown)).toBe('all')
    expect(toggleAll(toggleAll(one, shown), shown).ids.size).toBe(0)
    expect(selectedOf(one, shown)).toBe('some')
  })

  test('keeps its range within a list that gets shorter, and is the same where nothing left', () => {
    const three = extendTo(toggle(nothingSelected, 5), shown, 9)
    expect([...within(three, new Set([9, 5, 1])).ids].sort()).toEqual([5, 9])
    expect(within(three, new Set(shown))).toBe(three)
  })

  test('begins at the row itself where the one before is not shown', () => {
    expect([...extendTo(nothingSelected, shown, 7).ids]).toEqual([7])
    expect([...extendTo(toggle(nothingSelected, 100), shown, 7).ids]).toEqual([7])
  })
})

describe('an action on several', () => {
  const price = { costPerHour: 300_000, pricePerHour: 300_000, diskPricePerHour: 10_000 }
  const running = [1, 2].map(id => instanceView({ id, state: 'running', ...price }))
  const stopped = instanceView({ id: 3, state: 'stopped', ...price, costPerHour: 10_000 })
  const all = [...running, stopped]

  test('lists the instances it changes, with savings or costs', () => {
    expect(concerned('stop', all, 0)).toEqual(running)
    expect(concerned('start', all, 0)).toEqual([stopped])
    expect(concerned('destroy', all, 0)).toEqual(all)
    // What is under way is not asked for again, and nothing is done with what is being destroyed.
    const [first, ...rest] = running
    const stop = { undoable: { [first?.id ?? 0]: { action: 'stop', sendAt: 9 } } } as const
    expect(concerned('stop', all, 0, stop)).toEqual(rest)
    expect(concerned('destroy', all, 0, stop)).toEqual(all)
    const destroy = { action: 'destroy', phase: 'requested', since: 0, requests: 1 } as const
    expect(concerned('stop', all, 0, { endings: { [first?.id ?? 0]: destroy } })).toEqual(rest)
    expect(selectionCostWords('stop', running)).toBe('Saves $0.580/h.')
    expect(selectionCostWords('destroy', all)).toBe('Saves $0.610/h.')
    expect(selectionCostWords('start', [stopped])).toBe('Costs $0.290/h more.')
  })

  test('a prefix replaces the one before, and the number is kept where there is no name', () => {
    expect(prefixed({ id: 4, label: 'lr-3' }, 'sweep')).toBe('sweep/lr-3')
    expect(prefixed({ id: 4, label: 'old/lr-3' }, 'sweep/')).toBe('sweep/lr-3')
    expect(prefixed({ id: 4 }, 'sweep')).toBe('sweep/4')
  })

  test('is exported with notes and tags, and no label runs as a formula', () => {
    const odd = instanceView({ id: 4, label: '=1+1', state: 'stopped' })
    const [head, line] = selectionCsv([odd], { 4: { note: 'keep, please', tags: ['a', 'b'] } }, 0).split(
      '\r\n',
    )
    expect(head).toMatch(/^id,label,state,.*,tags,note$/)
    expect(line).toMatch(/^4,'=1\+1,Stopped,.*,a b,"keep, please"$/)
  })
})

describe('groups', () => {
  const account = accountView(
    { notes: { 2: { note: 'the good one', tags: ['paper', 'keep'] } } },
    ...['sweep-1', 'sweep-2', 'eval/a', 'eval/b', 'alone', undefined].map((label, id) =>
      instanceView({ id, label, state: label === 'sweep-2' ? 'outbid' : 'running' }),
    ),
  )
  const names = (by: 'none' | 'name' | 'tag') =>
    groupRows(instanceRows(account), by, account).map(({ name, rows }) => [
      name,
      ...rows.map(({ instance }) => instance?.id),
    ])

  test('follow common prefixes, urgent ones first, single ones together', () => {
    expect(names('none')).toEqual([['', 5, 4, 3, 2, 1, 0]])
    expect(names('name')).toEqual([
      ['sweep', 1, 0],
      ['eval', 3, 2],
      ['Others', 5, 4],
    ])
    expect(['sweep-1', 'lr 12', 'eval/a-1', 'train-llama', 'x1'].map(prefixOf)).toEqual([
      'sweep',
      'lr',
      'eval',
      'train',
      'x',
    ])
  })

  test('are by the first tag, and the filter finds tags and notes', () => {
    expect(names('tag')).toEqual([
      ['Others', 5, 4, 3, 1, 0],
      ['paper', 2],
    ])
    const found = (typed: string) =>
      filterRows(instanceRows(account), typed, account.notes).map(({ instance }) => instance?.id)
    expect(found('#keep')).toEqual([2])
    expect(found('good one')).toEqual([2])
    expect(tagsIn(' #a, b  a')).toEqual(['a', 'b'])
  })
})
