import { createServer, type Server, type Socket } from 'node:net'
import ssh2, { type AuthContext, type Connection, type ParsedKey, type PublicKeyAuthContext } from 'ssh2'
import { appPages } from './app-pages.ts'
import { Scratch } from './files/scratch.ts'
import { serveSftp } from './files/serve-sftp.ts'
import { hostKey } from './host-key.ts'
import { forwardToPages, jupyterPage, jupyterPort } from './jupyter-page.ts'
import type { Machine } from './machine.ts'
import { Background } from './runs/background.ts'
import { serveShell } from './shell/session.ts'

export interface InstanceSshOptions extends Machine {
  /** The world's seed, which determines the host key together with the instance's id. */
  seed: number
  /** On 127.0.0.1; 0, the default, takes a free one. */
  port?: number
  /** Lines of `authorized_keys`, read at each attempt. Only these keys are accepted, as root. */
  authorizedKeys: () => string[]
  /** A folder that exists: the instance's disk, which it sees as `/`. */
  files: string
}

export interface InstanceSsh {
  host: '127.0.0.1'
  port: number
  /** `SHA256:…`, as OpenSSH prints it. */
  hostKeyFingerprint: string
  /** Drops every connection and frees the port. */
  close(): Promise<void>
}

/** Attempts before a client is disconnected; an agent may hold many keys. */
const maxAttempts = 20
/** Milliseconds between telling a client of the close and cutting its connection. */
const partingTime = 200
/** Milliseconds to log in. */
const loginTime = 30_000

/** Starts the SSH server of one instance on loopback. Rejects where the port is taken. */
export async function startInstanceSsh(options: InstanceSshOptions): Promise<InstanceSsh> {
  const { privateKey, fingerprint } = hostKey(options.seed, options.instanceId)
  const files = new Scratch(options.files)
  const background = new Background()
  const pages = appPages(options).set(jupyterPort, jupyterPage(options))
  const ssh = new ssh2.Server({ hostKeys: [privateKey], ident: 'Berth-simulator' }, connection => {
    admitConnection(connection, options)
    forwardToPages(connection, pages)
    connection.on('session', accept => {
      const session = accept()
      serveShell(session, connection, options, { files, background })
      serveSftp(session, files)
    })
  })
  // Sockets are accepted here, so that close() can also drop those that have not begun SSH.
  const sockets = new Set<Socket>()
  const listener = createServer(socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.setNoDelay(true)
    ssh.injectSocket(socket)
  })
  const port = await listen(listener, options.port ?? 0)
  return {
    host: '127.0.0.1',
    port,
    hostKeyFingerprint: fingerprint,
    close: () =>
      new Promise(resolve => {
        background.halt()
        listener.close(() => resolve())
        for (const socket of sockets) {
          socket.end()
          setTimeout(() => socket.destroy(), partingTime)
        }
      }),
  }
}

function listen(listener: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, '127.0.0.1', () => {
      listener.removeListener('error', reject)
      const address = listener.address()
      if (address === null || typeof address === 'string') reject(new Error('The SSH server has no port.'))
      else resolve(address.port)
    })
  })
}

function admitConnection(connection: Connection, options: InstanceSshOptions): void {
  let attempts = 0
  connection.setMaxListeners(0) // each of its many channels listens for its end
  const late = setTimeout(() => connection.end(), loginTime)
  connection.once('close', () => clearTimeout(late))
  connection.once('ready', () => clearTimeout(late))
  connection.on('error', () => undefined) // rubbish, resets: the connection closes by itself
  connection.on('authentication', attempt => {
    attempts += 1
    if (attempts > maxAttempts) connection.end()
    else if (mayEnter(attempt, options)) attempt.accept()
    else attempt.reject(['publickey'])
  })
}

function mayEnter(attempt: AuthContext, options: InstanceSshOptions): boolean {
  return (
    attempt.method === 'publickey' && attempt.username === 'root' && admits(attempt, options.authorizedKeys())
  )
}

const acceptedTypes = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/

/**
 * Whether this attempt may continue: its key is in `authorizedKeys` (lines of an `authorized_keys` file) and any
 * signature is that key's over this session. A client first asks without a signature whether a key would do; ssh2 then
 * says so and does not log it in. RSA signatures over SHA-1 are refused.
 */
function admits(attempt: PublicKeyAuthContext, authorizedKeys: readonly string[]): boolean {
  if (attempt.key.algo === 'ssh-rsa' && attempt.hashAlgo === undefined) return false
  const key = authorizedKeys.map(parse).find(candidate => candidate?.getPublicSSH().equals(attempt.key.data))
  if (key === undefined || key.type !== attempt.key.algo) return false
  if (attempt.signature === undefined) return true
  if (attempt.blob === undefined) return false
  // ssh2 gives an Error, not false, for a signature it cannot read.
  return key.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true
}

function parse(line: string): ParsedKey | undefined {
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(line.trim())
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  if (key === undefined || key instanceof Error || key.isPrivateKey()) return undefined
  return acceptedTypes.test(key.type) ? key : undefined
}
