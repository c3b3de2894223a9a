import { expect, test } from 'vitest'
import type { Bridge, MainMessage, PageMessage } from '#contract/messages.ts'
import { BerthLink } from '#renderer/bridge/link.ts'
import { BerthError } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { accountView, stateWith } from '#test/unit/views.ts'

/** The main process's end of the bridge, run by the test. */
function joined() {
  const posted: PageMessage[] = []
  const states: State[] = []
  let tell: (message: MainMessage) => void = () => {}
  const bridge: Bridge = {
    post: message => posted.push(message),
    listen: listener => {
      tell = listener
    },
  }
  const link = new BerthLink(bridge, state => states.push(state))
  link.open()
  return { link, posted, states, tell: (message: MainMessage) => tell(message) }
}

test('a link asks for the whole State when it opens and after a missed patch', () => {
  const { posted, states, tell } = joined()
  expect(posted).toEqual([{ kind: 'sync' }])
  tell({ kind: 'state', sequence: 1, state: stateWith(accountView()) })
  tell({ kind: 'patch', sequence: 3, patches: [] })
  expect(posted).toEqual([{ kind: 'sync' }, { kind: 'sync' }])
  expect(states).toHaveLength(1)
})

test('answers reach their own calls in any order', async () => {
  const { link, posted, tell } = joined()
  const one = link.berth.sshCommand({ instance: 1 })
  const two = link.berth.stopInstance({ instance: 2 })
  const calls = posted.flatMap(message => (message.kind === 'command' ? [message] : []))
  expect(calls.map(({ name, args }) => [name, args])).toEqual([
    ['sshCommand', { instance: 1 }],
    ['stopInstance', { instance: 2 }],
  ])
  tell({ kind: 'refusal', call: calls[1]?.call ?? 0, problem: { code: 'no', message: 'No.' } })
  tell({ kind: 'answer', call: calls[0]?.call ?? 0, answer: 'ssh x' })
  await expect(one).resolves.toBe('ssh x')
  await expect(two).rejects.toThrow(BerthError)
})

test('a call is withdrawn while it has no answer', async () => {
  const { link, posted, tell } = joined()
  const [one, two] = [new AbortController(), new AbortController()]
  const first = link.berth.sshCommand({ instance: 1 }, one.signal)
  void link.berth.sshCommand({ instance: 2 }, two.signal)
  tell({ kind: 'answer', call: 1, answer: 'ssh x' })
  await first
  one.abort()
  two.abort()
  expect(posted.filter(({ kind }) => kind === 'withdraw')).toEqual([{ kind: 'withdraw', call: 2 }])
})

test('a lost connection refuses calls and ends streams with a reason', async () => {
  const { link } = joined()
  const call = link.berth.refresh({})
  let why: string | undefined
  link.stream(4).read(
    () => {},
    problem => {
      why = problem?.code
    },
  )
  link.drop()
  await expect(call).rejects.toMatchObject({ problem: { code: 'disconnected' } })
  expect(why).toBe('disconnected')
  await expect(link.berth.refresh({})).rejects.toMatchObject({ problem: { code: 'disconnected' } })
})

test('bytes for a closed stream are dropped', () => {
  const { link, tell } = joined()
  const stream = link.stream(9)
  stream.close()
  tell({ kind: 'data', stream: 9, bytes: Uint8Array.of(1) })
  let read = 0
  link.stream(9).read(
    bytes => {
      read += bytes.length
    },
    () => {},
  )
  expect(read).toBe(0)
})
