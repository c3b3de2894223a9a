import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostNames, safeLabel } from '#ssh/config-text.ts'
import { optionPath, quote, sshCommand } from '#ssh/ssh-command.ts'

const lab = (instance: number, label?: string) => ({ account: 'a1', instance, label })

test('an instance’s host names are its number and its sanitised label', () => {
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

const base = {
  account: 'demo',
  instance: 4711,
  address: { host: 'ssh4.example.com', port: 12_345 },
  keyPath: '/home/me/berth/keys/id_ed25519',
  knownHostsPath: '/home/me/Application Support/berth/known_hosts',
}

test('the command names key, known hosts and instance, and forwards no agent', () => {
  const args = sshCommand(base)
  expect(args[0]).toBe('ssh')
  expect(args.join(' ')).toContain('-i /home/me/berth/keys/id_ed25519')
  expect(args).toContain('UserKnownHostsFile="/home/me/Application Support/berth/known_hosts"')
  expect(args).toContain('HostKeyAlias=berth-demo-4711')
  expect(args).toContain('ForwardAgent=no')
  expect(args.slice(args.indexOf('-p'))).toEqual(['-p', '12345', '--', 'root@ssh4.example.com'])
})

test('a percent sign in a path is escaped for ssh', () => {
  const args = sshCommand({ ...base, keyPath: '/tmp/100%/key' })
  expect(args).toContain('IdentityFile="/tmp/100%%/key"')
  expect(args).not.toContain('-i')
  expect(optionPath('/a "b"\\c%')).toBe('"/a \\"b\\"\\\\c%%"')
})

test('plain arguments are not quoted', () => {
  expect(quote(['ssh', '-p', '22', '--', 'root@h'])).toBe('ssh -p 22 -- root@h')
  expect(quote(['a b', "it's", ''])).toBe(`'a b' 'it'\\''s' ''`)
})

test('a POSIX shell reads quoted arguments back unchanged', () => {
  const text = fc.string({ unit: 'grapheme' }).map(value => value.replaceAll('\0', ''))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), args => {
      const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${quote(args)}`], { encoding: 'utf8' })
      expect(printed.split('\0').slice(0, -1)).toEqual(args)
    }),
    { numRuns: 60 },
  )
})
