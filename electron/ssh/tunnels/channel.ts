import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { connect as startTls } from 'node:tls'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionLost, reasonOf } from '../connection/ssh-problems.ts'

/** The error if nothing listens at the instance's port, or its SSH server refuses to forward to it. */
export class PortRefused extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'PortRefused'
  }
}

/** A connection to a port inside the instance. Throws PortRefused, or `ssh_closed` when the connection is lost. */
export function openChannel(
  { client, address }: Pick<Connection, 'client' | 'address'>,
  port: number,
): Promise<Duplex> {
  return new Promise<Duplex>((resolve, reject) => {
    // `localhost` instead of an address, since some programs listen on ::1 alone.
    client.forwardOut('127.0.0.1', 0, 'localhost', port, (error, channel) =>
      error === undefined ? resolve(channel) : reject(error),
    )
  }).catch(error => {
    throw 'reason' in error
      ? new PortRefused(error.message)
      : new BerthError(connectionLost(address, reasonOf(error)))
  })
}

/** Starts TLS on a connection. SSH has verified the host, so the certificate, usually self-signed, does not matter. */
export async function overTls(channel: Duplex): Promise<Duplex> {
  const secured = startTls({
    socket: channel,
    // Some servers choose their certificate by it, and have none without.
    servername: 'localhost',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  await once(secured, 'secureConnect')
  return secured
}

/**
 * Connects two streams in both directions with back-pressure, until both have ended or one is cut. The returned function
 * parts them again.
 */
export function join(near: Duplex, far: Duplex): () => void {
  const cutNear = () => near.destroy()
  const cutFar = () => far.destroy()
  const onFarClose = () => {
    // Bytes sent before the far side closed may still be on their way.
    if (!far.readableEnded) near.destroy()
  }
  near.on('error', cutFar).on('close', cutFar)
  far.on('error', cutNear).on('close', onFarClose)
  near.pipe(far)
  far.pipe(near)
  return () => {
    near.off('error', cutFar).off('close', cutFar)
    far.off('error', cutNear).off('close', onFarClose)
    near.unpipe(far)
    far.unpipe(near)
  }
}
