import { expect, test } from 'vitest'
import { parseBaseUrl } from '../../../electron/service/base-url.ts'
import { createClient } from '../../../electron/service/client.ts'
import { publicRoutes } from '../../../simulator/routes/public/routes.ts'
import { routes } from '../../../simulator/routes/routes.ts'
import { errorCodes, interfaceTable, operations, routeOf, rules } from './interface-table.ts'
import { namesByPlace, tokenAfter } from './named-things.ts'

test('the document is up to date with the code and the tests', async () => {
  await expect(interfaceTable()).toMatchFileSnapshot('../../../docs/interface.md')
})

test('every method of the client and every route of the interface has a line', () => {
  const client = createClient({ baseUrl: parseBaseUrl('https://a.example'), key: 'k' })
  const methods = Object.entries(client).flatMap(([group, each]) =>
    Object.keys(each).map(method => `${group}.${method}`),
  )
  const lines = operations()
  expect(methods.filter(method => !lines.some(each => each.method === method))).toEqual([])
  const own = new Set(publicRoutes.map(routeOf))
  const answered = new Set(lines.map(({ route }) => route))
  const without = routes.map(routeOf).filter(route => !own.has(route) && !answered.has(route))
  expect(without).toEqual([])
})

test('every error code is simulated and tested, and every rule has a test', () => {
  const unproven = [...errorCodes(), ...rules()].filter(({ tests }) => tests.length === 0)
  expect(unproven.map(({ what }) => what)).toEqual([])
  expect(
    errorCodes()
      .filter(({ simulator }) => simulator.length === 0)
      .map(({ what }) => what),
  ).toEqual([])
  expect(rules().length).toBeGreaterThan(60)
})

test('a note belongs to the declaration or test right after it', () => {
  const source = `// interface 8: A
/** Told. */
export const limit = 1
// interface 8: B
test.each([1])('is kept: %i', () => {})
// interface 8: C
call()
`
  const names = namesByPlace(source)
  const after = (letter: string) => names.get(tokenAfter(source, source.indexOf(`// interface 8: ${letter}`)))
  expect(after('A')).toEqual({ declared: 'limit' })
  expect(after('B')).toEqual({ test: 'is kept: %i' })
  expect(after('C')).toBeUndefined()
})
