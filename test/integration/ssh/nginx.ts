import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { lacks } from '../../needs.ts'
import { makeCertificate } from './certificate.ts'

/** Why nginx cannot run here, as the end of a name; '' where it can. */
export const noNginx = lacks('nginx')

/** Starts nginx with these lines for its server, which have a self-signed certificate; the returned function ends it. */
export async function startNginx(port: number, lines: string): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-nginx-'))
  const file = (name: string) => join(folder, name)
  makeCertificate(file('key.pem'), file('cert.pem'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${file(name)};`,
  )
  writeFileSync(
    file('nginx.conf'),
    `user root; daemon off; worker_processes 1; pid ${file('pid')}; error_log ${file('error.log')};
    events {}
    http {
      access_log off; ${paths.join(' ')}
      map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
      server {
        ssl_certificate ${file('cert.pem')}; ssl_certificate_key ${file('key.pem')};
        ${lines}
      }
    }`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', file('nginx.conf')], {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  })
  await listening(port)
  return async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    const open = await once(socket, 'connect').catch(() => undefined)
    socket.destroy()
    if (open) return
    await wait(50)
  }
  throw new Error('nginx does not listen')
}
