import { create } from 'mutative'
import { expect, test } from 'vitest'
import { Replica } from '#renderer/bridge/replica.ts'
import type { State } from '#shared/state.ts'
import { accountView, instanceView, stateWith } from '#test/unit/views.ts'

function changed(state: State, change: (draft: State) => void) {
  const [, patches] = create(state, change, { enablePatches: true })
  return patches
}

test('a missed patch is reported once, and none is applied until a whole State comes', () => {
  const replica = new Replica()
  const first = stateWith(accountView())
  replica.take({ kind: 'state', sequence: 1, state: first })
  const patches = changed(first, draft => {
    draft.app.version = '2'
  })
  expect(replica.take({ kind: 'patch', sequence: 3, patches })).toBe('missed')
  expect(replica.take({ kind: 'patch', sequence: 4, patches })).toBe('unchanged')
  expect(replica.state?.app.version).toBe('test')
  expect(
    replica.take({ kind: 'state', sequence: 4, state: stateWith(accountView({}, instanceView())) }),
  ).toBe('changed')
  expect(replica.take({ kind: 'patch', sequence: 5, patches })).toBe('changed')
})

test('a patch that is old or comes before any State changes nothing', () => {
  const replica = new Replica()
  expect(replica.take({ kind: 'patch', sequence: 1, patches: [] })).toBe('unchanged')
  replica.take({ kind: 'state', sequence: 5, state: stateWith(accountView()) })
  expect(replica.take({ kind: 'patch', sequence: 5, patches: [] })).toBe('unchanged')
})

test('a patch that does not fit counts as missed', () => {
  const replica = new Replica()
  replica.take({ kind: 'state', sequence: 1, state: stateWith(accountView()) })
  const patches = [{ op: 'replace' as const, path: ['accounts', 'none', 'credit', 'x'], value: 1 }]
  expect(replica.take({ kind: 'patch', sequence: 2, patches })).toBe('missed')
})
