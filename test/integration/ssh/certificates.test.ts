import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../electron/local/clock.ts'
import { createSsh } from '../../../electron/ssh/connections.ts'
import { hasValidCertificate } from '../../../electron/ssh/tunnels/certificate.ts'
import { openTunnel } from '../../../electron/ssh/tunnels/tunnel.ts'
import { whatAnswers } from '../../../electron/ssh/tunnels/web.ts'
import { scratchMachine } from './machine.ts'
import { freePort, hasSshd, startSshd } from './sshd.ts'
import { target } from './steps.ts'

let server: Server
let port: number
let cert: string
const folder = mkdtempSync(join(tmpdir(), 'berth-tls-'))

beforeAll(async () => {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'].concat([
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      keyFile,
      '-out',
      certFile,
    ]),
    { stdio: 'ignore' },
  )
  cert = readFileSync(certFile, 'utf8')
  server = createServer({ key: readFileSync(keyFile), cert }, (_, response) => response.end('secured'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a certificate counts only when this machine trusts it, and for its own host alone', async () => {
  expect(await hasValidCertificate({ host: '127.0.0.1', port }, systemClock)).toBe(false)
  expect(await hasValidCertificate({ host: '127.0.0.1', port }, systemClock, cert)).toBe(true)
  expect(await hasValidCertificate({ host: 'localhost', port }, systemClock, cert)).toBe(false)
  expect(await hasValidCertificate({ host: '127.0.0.1', port: await freePort() }, systemClock, cert)).toBe(
    false,
  )
})

test.skipIf(!hasSshd)('what speaks TLS inside is plain at the local end, whoever signed it', async () => {
  const sshd = await startSshd()
  const machine = scratchMachine()
  const ssh = createSsh(machine)
  sshd.authorize((await ssh.keys.locate('berth')).publicKey)
  const tunnel = await openTunnel({
    clock: machine.clock,
    connect: () => ssh.connect(target({ proxy: sshd })),
    port,
    reserved: new Set(),
    random: Math.random,
    lost: () => undefined,
    back: () => undefined,
    idle: () => undefined,
  })
  try {
    expect(await whatAnswers(tunnel.dial, machine.clock)).toBe('https')
    tunnel.speakTls()
    expect(await (await fetch(`http://127.0.0.1:${tunnel.localPort}/`)).text()).toBe('secured')
  } finally {
    await tunnel.close()
    await ssh.close()
    await sshd.close()
    machine.remove()
  }
})
