import { apply } from 'mutative'
import { beforeEach, expect, test } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { createPageLink, type Dispatch } from '#core/bridge/dispatcher.ts'
import type { PageLink } from '#core/running.ts'
import { createStore, type Store } from '#core/storage/store.ts'
import { BerthError } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { emptyState } from '#test/unit/views.ts'

let store: Store
let sent: MainMessage[]
let room: boolean
let page: PageLink
let dispatch: Dispatch
beforeEach(() => {
  store = createStore(emptyState())
  sent = []
  room = true
  dispatch = async name => `did ${name}`
  page = createPageLink(
    store,
    (name, args, caller) => dispatch(name, args, caller),
    message => {
      sent.push(message)
      return room
    },
  )
})

const rename = (version: string) =>
  store.change(draft => {
    draft.app.version = version
  })

test('patches follow only after the full State, numbered and complete', () => {
  rename('1')
  expect(sent).toEqual([])
  page.receive({ kind: 'sync' })
  rename('2')
  rename('2')
  rename('3')
  expect(sent.map(message => ('sequence' in message ? message.sequence : undefined))).toEqual([1, 2, 3])
  let state = sent[0]?.kind === 'state' ? sent[0].state : undefined
  for (const message of sent)
    if (message.kind === 'patch') state = apply(state as State, message.patches) as State
  expect(state).toEqual(store.get())
})

test('a page that missed a patch gets the full State when it syncs again', () => {
  page.receive({ kind: 'sync' })
  rename('2')
  sent.length = 0
  page.receive({ kind: 'sync' })
  expect(sent).toEqual([{ kind: 'state', sequence: 1, state: store.get() }])
})

test('a slow page is sent no patches, then the full State once it has drained', () => {
  page.receive({ kind: 'sync' })
  room = false
  for (let version = 1; version <= 50; version += 1) rename(String(version))
  expect(sent).toHaveLength(2)
  room = true
  page.drained()
  expect(sent.at(-1)).toEqual({ kind: 'state', sequence: 50, state: store.get() })
  rename('51')
  expect(sent.at(-1)).toMatchObject({ kind: 'patch', sequence: 51 })
})

test('a command is answered by its call number, and a failure has a problem', async () => {
  page.receive({ kind: 'command', call: 7, name: 'refresh', args: {} })
  await flushPromises()
  dispatch = async () => {
    throw new BerthError({ code: 'no_such_account', message: 'gone' })
  }
  page.receive({ kind: 'command', call: 8, name: 'refresh', args: {} })
  await flushPromises()
  dispatch = async () => {
    throw new Error('/home/someone/secret')
  }
  page.receive({ kind: 'command', call: 9, name: 'refresh', args: {} })
  await flushPromises()
  expect(sent).toMatchObject([
    { kind: 'answer', call: 7, answer: 'did refresh' },
    { kind: 'refusal', call: 8, problem: { code: 'no_such_account' } },
    { kind: 'refusal', call: 9, problem: { code: 'internal' } },
  ])
  expect(JSON.stringify(sent)).not.toContain('secret')
})

test('a command hears that its page needs the answer no longer, or has left', async () => {
  const withdrawn: (AbortSignal | undefined)[] = []
  dispatch = (_name, _args, caller) => {
    withdrawn.push(caller.withdrawn)
    return new Promise(() => undefined)
  }
  for (const call of [1, 2]) page.receive({ kind: 'command', call, name: 'searchOffers', args: {} })
  page.receive({ kind: 'withdraw', call: 1 })
  page.receive({ kind: 'withdraw', call: 7 })
  await flushPromises()
  expect(withdrawn.map(signal => signal?.aborted)).toEqual([true, false])
  page.close()
  expect(withdrawn.map(signal => signal?.aborted)).toEqual([true, true])
})

test('a closed page is sent nothing, not even pending answers', async () => {
  page.receive({ kind: 'sync' })
  page.receive({ kind: 'command', call: 1, name: 'refresh', args: {} })
  page.close()
  rename('2')
  await flushPromises()
  expect(sent.map(({ kind }) => kind)).toEqual(['state'])
})
