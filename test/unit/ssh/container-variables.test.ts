import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readVariables, webLogin } from '#ssh/tunnels/container-variables.ts'

test('variables are read as /proc and /etc/environment write them, the container’s own first', () => {
  const text =
    'A=1\0PORTAL_CONFIG=localhost:1:2:/:My App|x\0EMPTY=\0A=2\nexport B="two words"\nC=\'x\'\n# D=1\n'
  expect(Object.fromEntries(readVariables(text))).toEqual({
    A: '1',
    PORTAL_CONFIG: 'localhost:1:2:/:My App|x',
    EMPTY: '',
    B: 'two words',
    C: 'x',
  })
})

test.each([
  [{ OPEN_BUTTON_TOKEN: 'abc' }, { user: 'vastai', password: 'abc' }],
  [
    { WEB_USERNAME: 'me', WEB_PASSWORD: 'own', OPEN_BUTTON_TOKEN: 'abc' },
    { user: 'me', password: 'own' },
  ],
  [
    { WEB_PASSWORD: 'with space', OPEN_BUTTON_TOKEN: 'abc' },
    { user: 'vastai', password: 'abc' },
  ],
  [{ OPEN_BUTTON_TOKEN: '' }, undefined],
  [{}, undefined],
])('the login of %j is %j', (variables, login) => {
  expect(webLogin(new Map(Object.entries(variables)))).toEqual(login)
})

test('a host’s answer never makes a login that a browser’s address could not hold', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (token, rest) => {
      const login = webLogin(readVariables(`OPEN_BUTTON_TOKEN=${token}\0WEB_USERNAME=${rest}\0${rest}`))
      if (login) expect(`${login.user}${login.password}`).toMatch(/^[\x21-\x7e]{1,1024}$/)
    }),
  )
})
