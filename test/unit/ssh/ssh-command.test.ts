import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { optionPath, quote, sshCommand } from '#ssh/ssh-command.ts'

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

test('an invalid host or port never becomes a command', () => {
  expect(() => sshCommand({ ...base, address: { host: '-oProxyCommand=id', port: 22 } })).toThrow(/ssh_host/)
  expect(() => sshCommand({ ...base, address: { host: 'a', port: 0 } })).toThrow(/ssh_port/)
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
