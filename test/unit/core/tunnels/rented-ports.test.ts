import { expect, test } from 'vitest'
import { rentedPorts } from '../../../../electron/core/tunnels/port.ts'

test('the ports that were rented are those that are mapped or asked for, but SSH and UDP', () => {
  const ports = {
    '22/tcp': [{ HostPort: '40001' }],
    '8188/tcp': [{ HostPort: '40002' }],
    '53/udp': [{ HostPort: '40003' }],
    'x/tcp': [{ HostPort: '40004' }],
  }
  const extra_env: [string, string][] = [
    ['-p 7860:7860', '1'],
    ['-p 8188:8188', '1'],
    ['-p 99999:99999', '1'],
    ['NAME', '-p 1:1'],
  ]
  expect(rentedPorts({ ports, extra_env })).toEqual([7860, 8188])
  expect(rentedPorts({})).toEqual([])
})
