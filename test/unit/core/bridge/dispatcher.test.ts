import { expect, test } from 'vitest'
import { commands } from '#contract/commands.ts'
import { createDispatcher, type Handlers } from '#core/bridge/dispatcher.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { errorSentence } from '#service/http/error-messages.ts'
import { ServiceError } from '#service/service-error.ts'
import { BerthError } from '#shared/problem.ts'

/** Handlers of all commands, which record their calls. */
function everyCommand(reached: { name: string; args: unknown }[]): Handlers {
  return Object.fromEntries(
    Object.keys(commands).map(name => [name, async (args: unknown) => void reached.push({ name, args })]),
  ) as unknown as Handlers
}

async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(BerthError)
  return (error as BerthError).problem
}

test('an unknown field is refused', async () => {
  const reached: { name: string; args: unknown }[] = []
  const dispatch = createDispatcher(commands, everyCommand(reached), () => undefined)
  for (const extra of ['program', 'path', 'constructor', 'toString']) {
    const args = { instance: 4711, [extra]: '/bin/sh' }
    await dispatch('stopInstance', args, {}).catch(() => undefined)
  }
  for (const { args } of reached) expect(args).toEqual({ instance: 4711 })
  const problem = await refusalOf(dispatch('stopInstance', { instance: 4711, program: '/bin/sh' }, {}))
  expect(problem).toMatchObject({ code: 'invalid_argument', field: 'program' })
})

test('a wrong argument is refused with its field and a readable message', async () => {
  const dispatch = createDispatcher(commands, everyCommand([]), () => undefined)
  expect(await refusalOf(dispatch('changeBid', { instance: 4711, price: 33 }, {}))).toMatchObject({
    code: 'invalid_argument',
    field: 'price',
    message: expect.stringMatching(/^The highest bid is \$32 per hour/),
  })
  expect(await refusalOf(dispatch('replaceKey', { account: 'demo', key: 'a b' }, {}))).toEqual({
    code: 'invalid_argument',
    field: 'key',
    message: 'An API key has no spaces and only plain characters.',
  })
})

test('an unexpected error reaches the caller as a BerthError without its text', async () => {
  const handlers = { ...everyCommand([]), refresh: () => Promise.reject(new Error('key sk-1234')) }
  const problem = await refusalOf(createDispatcher(commands, handlers, () => undefined)('refresh', {}, {}))
  expect(problem.code).toBe('internal')
  expect(JSON.stringify(problem)).not.toContain('sk-1234')
})

test.each([
  ['refused', 'The service says'],
  ['not_found', 'The service says'],
  ['bad_answer', 'Details'],
  ['not_this_service', 'Details'],
] as const)('the detail of %s is shown under “%s”', (code, label) => {
  const error = new ServiceError({ code, status: 400, ...errorSentence(code), detail: 'some detail' })
  expect(problemOf(error)).toMatchObject({ code, facts: { [label]: 'some detail' } })
  expect(Object.keys(problemOf(error).facts ?? {})).toEqual([label])
})
