import { expect, test } from 'vitest'
import { listedInstances } from '#core/access/ssh-config.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const direct = { host: '192.0.2.1', port: 40_022 }
const proxy = { host: 'ssh.example', port: 12_345 }
const accountsOf = (...given: Parameters<typeof accountView>[1][]) => {
  const account = accountView({}, ...given)
  return { accounts: { [account.id]: account } }
}
const nowhere = () => undefined

test('the direct address is listed, unless Berth connected through the proxy', () => {
  const state = accountsOf(instanceView({ id: 1, ssh: { direct, proxy } }))
  expect(listedInstances(state, nowhere)[0]?.address).toEqual(direct)
  expect(listedInstances(state, () => proxy)[0]?.address).toEqual(proxy)
  expect(listedInstances(state, () => ({ host: 'gone.example', port: 1 }))[0]?.address).toEqual(direct)
})

test('the proxy’s next port is listed for Jupyter runtypes, once Berth connected there', () => {
  const guess = { ...proxy, port: proxy.port + 1 }
  const jupyter = accountsOf(instanceView({ ssh: { proxy }, jupyter: true }))
  expect(listedInstances(jupyter, () => guess)[0]?.address).toEqual(guess)
  expect(listedInstances(jupyter, nowhere)[0]?.address).toEqual(proxy)
  const plain = accountsOf(instanceView({ ssh: { proxy } }))
  expect(listedInstances(plain, () => guess)[0]?.address).toEqual(proxy)
})

test('instances without an address, or with a refused one, are left out', () => {
  const refused = instanceView({ id: 2, ssh: { problem: 'The ssh_host begins with a dash.' } })
  expect(listedInstances(accountsOf(instanceView({ id: 1 }), refused), nowhere)).toEqual([])
})
