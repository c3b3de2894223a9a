import { expect, test } from 'vitest'
import { commands } from '#contract/commands.ts'
import { BerthError } from '#contract/problem.ts'
import { createDispatcher, type Handlers } from '#core/app/dispatcher.ts'

/** Handlers of all commands, which record their calls. */
function everyCommand(reached: { name: string; args: unknown }[]): Handlers {
  return Object.fromEntries(
    Object.keys(commands).map(name => [name, async (args: unknown) => void reached.push({ name, args })]),
  ) as unknown as Handlers
}

async function problemOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(BerthError)
  return (error as BerthError).problem
}

test.each([
  'launchRockets',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '',
  undefined,
  null,
  7,
  {},
  ['rent'],
])('%j is not a command', async name => {
  const reached: unknown[] = []
  const dispatch = createDispatcher(commands, everyCommand(reached as never), () => undefined)
  expect(await problemOf(dispatch(name, {}, {}))).toMatchObject({ code: 'unknown_command' })
  expect(reached).toEqual([])
})

test('an unknown field is refused', async () => {
  const reached: { name: string; args: unknown }[] = []
  const dispatch = createDispatcher(commands, everyCommand(reached), () => undefined)
  for (const extra of ['program', 'path', 'constructor', 'toString']) {
    const args = { instance: 4711, [extra]: '/bin/sh' }
    await dispatch('stopInstance', args, {}).catch(() => undefined)
  }
  for (const { args } of reached) expect(args).toEqual({ instance: 4711 })
  const problem = await problemOf(dispatch('stopInstance', { instance: 4711, program: '/bin/sh' }, {}))
  expect(problem).toMatchObject({ code: 'invalid_argument', field: 'program' })
})

test('a wrong argument is refused with its field and a readable message', async () => {
  const dispatch = createDispatcher(commands, everyCommand([]), () => undefined)
  expect(await problemOf(dispatch('changeBid', { instance: 4711, price: 33 }, {}))).toMatchObject({
    code: 'invalid_argument',
    field: 'price',
    message: expect.stringMatching(/^The highest bid is \$32 per hour/),
  })
  expect(await problemOf(dispatch('replaceKey', { account: 'demo', key: 'a b' }, {}))).toEqual({
    code: 'invalid_argument',
    field: 'key',
    message: 'An API key has no spaces and only plain characters.',
  })
})

test('an unexpected error reaches the caller as a BerthError without its text', async () => {
  const handlers = { ...everyCommand([]), refresh: () => Promise.reject(new Error('key sk-1234')) }
  const problem = await problemOf(createDispatcher(commands, handlers, () => undefined)('refresh', {}, {}))
  expect(problem.code).toBe('internal')
  expect(JSON.stringify(problem)).not.toContain('sk-1234')
})
