import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { directJupyter } from '#core/access/jupyter-tunnel.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import { hasValidCertificate } from '#ssh/tunnels/jupyter.ts'
import { openTunnel } from '#ssh/tunnels/tunnel.ts'
import { whatAnswers } from '#ssh/tunnels/web.ts'
import { askByName } from '#test/ask-by-name.ts'
import { listen } from '#test/loopback.ts'
import { makeCertificate } from './certificate.ts'
import { scratchMachine } from './machine.ts'
import { noSshd } from './own-root.ts'
import { freePort, startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

let server: Server
let port: number
let cert: string
/** The number of HTTP requests to the server. */
let asked = 0
const folder = mkdtempSync(join(tmpdir(), 'berth-tls-'))

beforeAll(async () => {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  makeCertificate(keyFile, certFile)
  cert = readFileSync(certFile, 'utf8')
  server = createServer({ key: readFileSync(keyFile), cert }, (_, response) => {
    asked += 1
    response.end('secured')
  })
  port = await listen(server)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

test('Jupyter is opened directly only with a valid certificate, and gets no request before', async () => {
  const at = (host: string, mapped = port, runtype = 'jupyter_direc ssh_direc ssh_proxy') => ({
    instance: { runtype, ports: [{ container: '8080/tcp', host, port: mapped }] },
  })
  const address = (
    of: ReturnType<typeof at>,
    token: string | undefined = 's3cret',
    ca: string | undefined = cert,
    page?: 'tree',
  ) => directJupyter(of, { token, page }, systemClock, ca)
  expect(await address(at('127.0.0.1'))).toBe(`https://127.0.0.1:${port}/?token=s3cret`)
  expect(await address(at('127.0.0.1'), 's3cret', cert, 'tree')).toBe(
    `https://127.0.0.1:${port}/tree?token=s3cret`,
  )
  // An untrusted certificate, another host, no token, no direct runtype, nothing at the port.
  expect(await directJupyter(at('127.0.0.1'), { token: 's3cret' }, systemClock)).toBeUndefined()
  expect(await address(at('localhost'))).toBeUndefined()
  expect(await address(at('127.0.0.1'), '')).toBeUndefined()
  expect(await address(at('127.0.0.1', port, 'jupyter_proxy ssh_proxy'))).toBeUndefined()
  expect(await address(at('127.0.0.1', await freePort()))).toBeUndefined()
  expect(asked).toBe(0)
})

test('a certificate is valid only when it is trusted and for its own host', async () => {
  expect(await hasValidCertificate({ host: '127.0.0.1', port }, systemClock)).toBe(false)
  expect(await hasValidCertificate({ host: '127.0.0.1', port }, systemClock, cert)).toBe(true)
  expect(await hasValidCertificate({ host: 'localhost', port }, systemClock, cert)).toBe(false)
  expect(await hasValidCertificate({ host: '127.0.0.1', port: await freePort() }, systemClock, cert)).toBe(
    false,
  )
})

test.skipIf(noSshd)(
  `a tunnel to a TLS server is plain HTTP locally, with any certificate${noSshd}`,
  async () => {
    const sshd = await startSshd()
    const machine = scratchMachine()
    const ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
    const tunnel = await openTunnel({
      clock: machine.clock,
      connect: () => ssh.connect(target({ proxy: sshd })),
      port,
      random: Math.random,
      drawEntry: () => ({ name: 'i1-0.localhost', secret: '0'.repeat(64) }),
      reached: () => undefined,
      lost: () => undefined,
      back: () => undefined,
      idle: () => undefined,
    })
    try {
      const server = { tls: true, host: `localhost:${port}` }
      expect(await whatAnswers(tunnel.dial, port, machine.clock)).toEqual({ server, status: 200 })
      tunnel.askAs(server)
      const { host, port: localPort } = await tunnel.listen('web')
      expect(await askByName(`http://${host}:${localPort}/`)).toMatchObject({ text: 'secured' })
    } finally {
      await tunnel.close()
      await ssh.close()
      await sshd.close()
      machine.remove()
    }
  },
)
