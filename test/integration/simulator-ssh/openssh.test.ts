import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { newKey } from '#test/new-key.ts'
import { ownKey, startInstance, type TestInstance } from './instance.ts'

/** Whether OpenSSH's clients are installed, or must be since this is CI. */
const installed =
  process.env['CI'] !== undefined ||
  (spawnSync('ssh', ['-V']).status === 0 &&
    ['sftp', 'scp'].every(program => spawnSync(program, ['-h']).error === undefined))

/** Runs ssh, sftp or scp in a folder with the key; gives output and exit code. */
async function openssh(
  instance: TestInstance,
  program: 'ssh' | 'sftp' | 'scp',
  args: string[],
  { key = ownKey.private, input = '' } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-openssh-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  writeFileSync(join(folder, 'key'), key, { mode: 0o600 })
  const options = [
    '-F',
    'none',
    '-i',
    join(folder, 'key'),
    program === 'ssh' ? '-p' : '-P',
    `${instance.port}`,
  ]
  for (const option of [
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
    'IdentitiesOnly=yes',
    'BatchMode=yes',
  ]) {
    options.push('-o', option)
  }
  const child = spawn(program, [...options, ...args], {
    cwd: folder,
    env: { ...process.env, SSH_AUTH_SOCK: '' },
  })
  let out = ''
  let err = ''
  child.stdout.on('data', bytes => {
    out += bytes
  })
  child.stderr.on('data', bytes => {
    err += bytes
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [status] = await once(child, 'close')
  return { out, err, status, folder }
}

test.skipIf(!installed)('OpenSSH logs in with ed25519 and rsa keys, and gets output and status', async () => {
  const rsa = ssh2.utils.generateKeyPairSync('rsa', { bits: 3072 })
  const instance = await startInstance({ authorizedKeys: () => [ownKey.public, rsa.public] })
  for (const key of [ownKey.private, rsa.private]) {
    expect(await openssh(instance, 'ssh', ['root@127.0.0.1', 'hostname; exit 3'], { key })).toMatchObject({
      out: 'C.4711\n',
      status: 3,
    })
  }
  const stranger = newKey().private
  const refused = await openssh(instance, 'ssh', ['root@127.0.0.1', 'whoami'], { key: stranger })
  expect(refused).toMatchObject({ out: '', status: 255 })
  expect(refused.err).toMatch(/Permission denied \(publickey\)/)
})

test.skipIf(!installed)('OpenSSH opens a terminal, types commands and leaves by exit', async () => {
  const instance = await startInstance()
  const { out, status } = await openssh(instance, 'ssh', ['-tt', 'root@127.0.0.1'], {
    input: 'nvidia-smi\necho é > ü\nls\nexit 4\n',
  })
  expect(status).toBe(4)
  expect(out).toContain('root@C.4711')
  expect(out).toContain('NVIDIA-SMI')
  expect(out).toContain('\nü')
})

test.skipIf(!installed)('OpenSSH’s sftp puts, gets, links and renames, and reads no host file', async () => {
  const instance = await startInstance()
  const source = join(instance.files, '..', 'source')
  writeFileSync(source, 'x'.repeat(5_000_000))
  const script = `put ${source} up\nmkdir d\nrename up d/up\nsymlink d/up l\nsymlink /etc/passwd p\nls -l\nget l back\n-get p stolen\nchmod 600 d/up\nrm l\n`
  const { out, err, status, folder } = await openssh(instance, 'sftp', ['-b', '-', 'root@127.0.0.1'], {
    input: script,
  })
  expect(status, err).toBe(0)
  expect(out).toMatch(/^drwx.* root +root .* d$/m)
  expect(readFileSync(join(folder, 'back')).length).toBe(5_000_000)
  expect(() => readFileSync(join(folder, 'stolen'))).toThrow(/ENOENT/)
})

test.skipIf(!installed)('OpenSSH’s scp copies a file there and back, and ends well', async () => {
  const instance = await startInstance()
  const source = join(instance.files, '..', 'source')
  writeFileSync(source, 'x'.repeat(1_000_000))
  const there = await openssh(instance, 'scp', ['-s', source, 'root@127.0.0.1:there'])
  expect(there.status, there.err).toBe(0)
  const back = await openssh(instance, 'scp', ['-s', 'root@127.0.0.1:there', 'back'])
  expect(back.status, back.err).toBe(0)
  expect(readFileSync(join(back.folder, 'back')).length).toBe(1_000_000)
  const missing = await openssh(instance, 'scp', ['-s', 'root@127.0.0.1:nowhere', 'back'])
  expect(missing.status).toBe(1)
})

test.skipIf(!installed)('the host key that OpenSSH stores is the announced one', async () => {
  const instance = await startInstance()
  const { folder } = await openssh(instance, 'ssh', ['root@127.0.0.1', 'true'])
  const listed = spawnSync('ssh-keygen', ['-lf', join(folder, 'known_hosts')], { encoding: 'utf8' }).stdout
  expect(listed).toContain(instance.hostKeyFingerprint)
})
