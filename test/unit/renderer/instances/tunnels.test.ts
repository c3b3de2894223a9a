import { expect, test } from 'vitest'
import { tunnelAddress, tunnelSteps, tunnelTrouble } from '#renderer/features/instances/tunnelWords.ts'
import { factsOf, sshLines } from '#renderer/screens/instances/details/facts.ts'
import { rowNoticeOf } from '#renderer/screens/instances/rowNotice.ts'
import { instanceRows } from '#renderer/screens/instances/rows.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { TunnelView } from '#shared/instance/tunnel.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const jupyter: TunnelView = { instance: 1, kind: 'jupyter', name: 'Jupyter', port: 8080, step: 'token' }

function underWith(tunnel: TunnelView, state: InstanceView['state'] = 'running') {
  const account = accountView(
    { tunnels: { '1:8080': tunnel } },
    instanceView({ id: 1, state }),
    instanceView({ id: 2 }),
  )
  return instanceRows(account).map(row => rowNoticeOf(row)?.kind)
}

test('the row shows a waiting tunnel’s step until its browser connects', () => {
  expect(underWith(jupyter)).toEqual([undefined, 'tunnel'])
  const open = { ...jupyter, step: 'open', host: 'i1-0f.localhost', localPort: 20_001 } as const
  expect(underWith({ ...open, web: false })).toEqual([undefined, undefined])
  expect(underWith({ ...open, web: true })).toEqual([undefined, 'tunnel'])
  expect(underWith({ ...open, web: true, reached: true })).toEqual([undefined, undefined])
  expect(tunnelAddress(open)).toBe('i1-0f.localhost:20001')
  expect(tunnelSteps(jupyter).find(({ current }) => current)?.name).toBe('asking for its token')
  expect(tunnelSteps({ ...jupyter, kind: 'port', step: 'waiting' }).map(({ name }) => name)).toEqual([
    'connecting',
    'waiting for Jupyter',
  ])
})

test('a lost network asks for nothing, a changed host key shows its advice', () => {
  const lost = { ...jupyter, step: 'reconnecting' } as const
  const problem = (code: string) => ({ code, message: `It is ${code}.`, advice: 'Do this.' })
  expect(tunnelTrouble({ ...lost, problem: problem('ssh_unreachable') })).toMatch(
    /reconnects at the same address/,
  )
  expect(tunnelTrouble({ ...lost, problem: problem('host_key_changed') })).toBe(
    'It is host_key_changed. Do this.',
  )
})

test('a tunnel to a stopped instance is not shown in its row', () => {
  const problem = { code: 'not_running', message: 'It is not running.' }
  const stopped = { ...jupyter, step: 'reconnecting', problem } as const
  expect(underWith(stopped)).toEqual([undefined, undefined])
  expect(tunnelTrouble(stopped)).toMatch(/once the instance runs/)
})

test('the details show the address in use while connected', () => {
  const said = (way?: { direct: boolean; address: string }) =>
    factsOf(instanceView({ id: 1 }), 0, { way })
      .flatMap(({ facts }) => facts)
      .find(({ name }) => name === 'Direct' || name === 'Via proxy')
  expect(said()).toBeUndefined()
  const address = 'root@192.0.2.1:40022'
  expect(said({ direct: true, address })).toEqual({ name: 'Direct', value: address })
  expect(said({ direct: false, address })).toEqual({ name: 'Via proxy', value: address })
})

test('the details have SSH as one types it, the direct way first', () => {
  const direct = { host: '192.0.2.1', port: 40_022 }
  const proxy = { host: 'ssh.example', port: 1 }
  expect(sshLines({ id: 7, ssh: { direct, proxy } }, { named: false }).map(({ command }) => command)).toEqual(
    ['ssh -p 40022 root@192.0.2.1', 'ssh -p 1 root@ssh.example'],
  )
  const withKey = sshLines({ id: 7, ssh: { direct } }, { named: false, keyFile: "'/home/me/a key'" })
  expect(withKey[0]?.command).toBe("ssh -i '/home/me/a key' -p 40022 root@192.0.2.1")
  expect(sshLines({ id: 7, ssh: { proxy } }, { named: true }).map(({ command }) => command)).toEqual([
    'ssh berth-7',
    'ssh -p 1 root@ssh.example',
  ])
  expect(sshLines({ id: 7 }, { named: true })).toEqual([])
})

test('a contract with a promised reliability says what of its price is for it, and that offline it still costs', () => {
  const of = (given: Parameters<typeof instanceView>[0]) =>
    Object.fromEntries(
      factsOf(instanceView({ pricePerHour: 500_000, ...given }), 0)
        .flatMap(({ facts }) => facts)
        .map(({ name, value }) => [name, value]),
    )
  expect(of({})).not.toHaveProperty('While offline')
  const promised = of({ reliabilityPrice: 50_000 })
  expect(promised['Reliability']).toBe('$0.050/h of it')
  expect(promised['While offline']).toContain('still billed $0.500/h')
})

test('a failed tunnel is told of while its instance runs', () => {
  const failed: TunnelView = { ...jupyter, step: 'failed', problem: { code: 'no_listener', message: 'No.' } }
  expect(underWith(failed)).toEqual([undefined, 'tunnel'])
  expect(underWith(failed, 'stopped')).toEqual([undefined, undefined])
})
