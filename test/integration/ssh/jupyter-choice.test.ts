import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { findJupyter } from '#ssh/tunnels/jupyter.ts'
import { listen } from '#test/loopback.ts'
import { noNginx, startNginx } from './nginx.ts'
import { noSshd } from './own-root.ts'
import { freePort } from './sshd.ts'
import { target } from './steps.ts'
import { useSshd } from './use-sshd.ts'

describe.skipIf(noSshd)(`of the Jupyters that an instance lists${noSshd}`, () => {
  const here = useSshd()
  const { endings } = here
  let lease: SharedConnection

  beforeAll(() => {
    writeFileSync(join(here.sshd.home, '.bashrc'), 'PATH=$HOME/bin:$PATH\n')
    mkdirSync(join(here.sshd.home, 'bin'))
  })
  beforeEach(async () => {
    lease = await here.ssh.connect(target({ proxy: here.sshd }))
    endings.push(() => lease.release())
  })

  /** A program named `jupyter` that lists these servers: `server list`, and `notebook list`. */
  function lists(servers: readonly object[], notebooks: readonly object[] = []): void {
    const lines = (list: readonly object[]) => list.map(one => `echo '${JSON.stringify(one)}'`).join('\n')
    const program = join(here.sshd.home, 'bin', 'jupyter')
    writeFileSync(
      program,
      `#!/bin/sh\ncase $1 in\nserver)\n:\n${lines(servers)}\n;;\nnotebook)\n:\n${lines(notebooks)}\n;;\nesac\n`,
    )
    chmodSync(program, 0o755)
  }

  async function serves(answer: RequestListener): Promise<number> {
    const server = createServer(answer)
    endings.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return listen(server)
  }

  /** A server that takes only this token, as Jupyter does. */
  const takes = (token: string) =>
    serves(({ headers }, response) =>
      response.writeHead(headers.authorization === `token ${token}` ? 200 : 403).end(),
    )
  const foreign = () => serves((_, response) => response.writeHead(403).end())
  const at = (port: number, token: string) => ({ port, token, base_url: '/' })
  const find = (usual: number, recorded?: string) => {
    const known = recorded === undefined ? [] : [{ port: usual, token: recorded, basePath: '/' }]
    return findJupyter(lease.connection, { known, usual }, here.machine.clock)
  }

  test('the one at the same port that takes its token is found', async () => {
    const port = await takes('new')
    for (const list of [
      [at(port, 'old'), at(port, 'new')],
      [at(port, 'new'), at(port, 'old')],
    ]) {
      lists(list)
      expect(await find(port)).toMatchObject({ port, token: 'new', server: { tls: false } })
    }
  })

  test('the one that lives is found behind a dead one, at the usual port or another', async () => {
    const [dead, alive] = [await freePort(), await takes('new')]
    lists([at(dead, 'old'), at(alive, 'new')])
    expect(await find(8080)).toMatchObject({ port: alive, token: 'new' })
    expect(await find(dead)).toMatchObject({ port: alive, token: 'new' })
  })

  test('a dead one in one list hides none in another', async () => {
    const [dead, alive] = [await freePort(), await takes('new')]
    lists([at(dead, 'old')], [at(alive, 'new')])
    expect(await find(8080)).toMatchObject({ port: alive, token: 'new' })
  })

  test('one is found where the record’s token is outdated, or its port dead', async () => {
    const port = await takes('new')
    lists([at(port, 'older'), at(port, 'new')])
    expect(await find(port, 'recorded')).toMatchObject({ port, token: 'new' })
    expect(await find(await freePort(), 'recorded')).toMatchObject({ port, token: 'new' })
    expect(await find(port, 'new')).toMatchObject({ port, token: 'new' })
  })

  test('another server at a listed port is passed over, also one that says nothing', async () => {
    const [other, alive] = [await foreign(), await takes('new')]
    const silent = await serves(() => undefined)
    lists([at(other, 'old'), at(alive, 'new'), at(silent, 'older')])
    expect(await find(other)).toMatchObject({ port: alive, token: 'new' })
    lists([at(alive, 'new'), at(silent, 'older')])
    expect(await find(silent)).toMatchObject({ port: alive, token: 'new' })
  })

  test.skipIf(noNginx).each([
    ['is refused', ''],
    ['is led to TLS', 'error_page 497 =308 https://$http_host$request_uri;'],
  ])('one behind TLS is found, where plain HTTP %s', async (_, lines) => {
    const [front, behind] = [await freePort(), await takes('new')]
    endings.push(
      await startNginx(
        front,
        `listen 127.0.0.1:${front} ssl; ${lines} location / { proxy_pass http://127.0.0.1:${behind}; }`,
      ),
    )
    lists([at(front, 'old'), at(front, 'new')])
    expect(await find(front)).toMatchObject({ port: front, token: 'new', server: { tls: true } })
  })

  test('reports whether no server is listed, answers or accepts its token', async () => {
    lists([at(await foreign(), 'old'), at(await freePort(), 'older')])
    expect(await find(8080)).toBe('refused')
    lists([at(await freePort(), 'old')])
    expect(await find(8080)).toBe('starting')
    lists([])
    expect(await find(8080)).toBe('missing')
  })
})
