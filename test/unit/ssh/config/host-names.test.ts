import { expect, test } from 'vitest'
import { configText } from '#ssh/config/config-text.ts'
import { hostNames, safeLabel } from '#ssh/config/host-names.ts'

const lab = (instance: number, label?: string) => ({ account: 'a1', instance, label })

test('an instance goes by its number, and by its label made safe', () => {
  expect(hostNames([lab(4711, 'Llama Fine-tune')])).toEqual([['berth-4711', 'berth-llama-fine-tune']])
})

test.each([
  ['größe Ünïcode', 'gro-e-unicode'],
  ['* !evil', 'evil'],
  ['x\n  ProxyCommand touch /tmp/x', 'x-proxycommand-touch-tmp-x'],
  ['github.com', 'github-com'],
  ['-oProxyCommand=x', 'oproxycommand-x'],
  ['a'.repeat(100), 'a'.repeat(40)],
  ['4712', undefined],
  ['12-34', undefined],
  ['日本', undefined],
  ['', undefined],
  [undefined, undefined],
])('the label %j gives %j', (label, safe) => {
  expect(safeLabel(label)).toBe(safe)
})

test('a label of two instances gets the instance number appended', () => {
  expect(hostNames([lab(1, 'train'), lab(2, 'Train!'), lab(3, 'other')])).toEqual([
    ['berth-1', 'berth-train-1'],
    ['berth-2', 'berth-train-2'],
    ['berth-3', 'berth-other'],
  ])
})

test('a label name that two instances would share is dropped', () => {
  expect(hostNames([lab(1, 'train'), lab(2, 'train'), lab(3, 'train-1')])).toEqual([
    ['berth-1'],
    ['berth-2', 'berth-train-2'],
    ['berth-3'],
  ])
})

test('the same instance number in two accounts or the demo gets distinct names', () => {
  const other = { account: 'b2', instance: 1 }
  const demo = { account: 'demo', instance: 1 }
  expect(hostNames([lab(1), other])).toEqual([['berth-1-a1'], ['berth-1-b2']])
  expect(hostNames([demo, lab(1)])).toEqual([['berth-1-demo'], ['berth-1']])
  expect(hostNames([demo])).toEqual([['berth-1']])
})

test.each(['-oProxyCommand=x', 'a b', 'a\nUser x', 'host"', 'bücher.example'])(
  'the host %j is never written to the config',
  host => {
    const entry = { ...lab(1), address: { host, port: 22 }, keyPath: '/k', knownHostsPath: '/h' }
    expect(() => configText([entry], true)).toThrow(/ssh_host/)
  },
)
