import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { SshAddress } from '#contract/instance/instance.ts'
import type { Clock } from '#machine/machine.ts'

/** Milliseconds for the TLS handshake. */
const patience = 5000

/** Whether the host's TLS certificate is valid for it and trusted by this machine. `ca`: the CA to trust instead. */
export function hasValidCertificate({ host, port }: SshAddress, clock: Clock, ca?: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({
      host,
      port,
      servername: isIP(host) === 0 ? host : undefined,
      ca,
      ALPNProtocols: ['http/1.1'],
    })
    const answer = (valid: boolean) => {
      cancel()
      resolve(valid)
      socket.destroy()
    }
    const cancel = clock.after(patience, () => answer(false))
    socket.on('secureConnect', () => answer(socket.authorized))
    socket.on('error', () => answer(false))
    socket.on('close', () => answer(false))
  })
}
