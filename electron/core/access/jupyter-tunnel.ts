import type { Clock } from '#platform/platform.ts'
import { instanceName } from '#shared/format/name.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import {
  type FoundJupyter,
  findJupyter,
  hasPage,
  hasValidCertificate,
  type JupyterFinding,
  type JupyterPage,
  jupyterAddress,
} from '#ssh/tunnels/jupyter.ts'
import type { Access } from './access.ts'
import type { InstanceTarget } from './connect-with-key.ts'
import { type Purpose, patientlyEvery } from './instance-tunnel.ts'

/** Where Jupyter listens in an instance (FIELDS: Jupyter). */
export const jupyterPort = 8080

/** Milliseconds that Jupyter may take to be ready once its instance runs. */
const slowest = 180_000
/** Milliseconds for which tokens must be refused: a proxy in front of Jupyter may refuse them until Jupyter is up. */
const refusedFor = 5000

export interface JupyterNeeds {
  target: () => InstanceTarget
  /** `jupyter_token` of the record, where the service sends it. */
  token: string | undefined
  /** The page that the rental asked to open with, where known. */
  page?: JupyterPage
  access: Pick<Access, 'connect'>
  clock: Clock
}

/**
 * A tunnel to the Jupyter in the instance that takes its token: the record's, or that of Jupyter's own list, since the
 * record's may be outdated. Waits until it is ready. Throws `jupyter_missing`, `jupyter_refused` or `jupyter_silent`.
 */
export function jupyterPurpose({ target, token, page, access, clock }: JupyterNeeds): Purpose {
  const servers = token ? [{ port: jupyterPort, token, basePath: '/' }] : []
  let found: FoundJupyter | undefined

  /** Throws as connecting does; a connection that is lost meanwhile has found nothing. */
  async function look(): Promise<JupyterFinding> {
    const { connection, release } = await access.connect(target())
    try {
      return await findJupyter(connection, { known: servers, usual: jupyterPort }, clock)
    } catch (error) {
      if (!connection.hasEnded()) throw error
      return 'starting'
    } finally {
      release()
    }
  }

  return {
    kind: 'jupyter',
    name: 'Jupyter',
    port: jupyterPort,
    async locate({ signal, step }) {
      step(token ? 'waiting' : 'token')
      const { instance } = target()
      let last: JupyterFinding = 'missing'
      let refusedSince: number | undefined
      found = await patientlyEvery(1000, { clock, signal, atMost: slowest }, async () => {
        last = await look()
        if (typeof last === 'object') return last
        if (last === 'missing' && !instance.jupyter) throw missing(instanceName(instance))
        refusedSince = last === 'refused' ? (refusedSince ?? clock.monotonic()) : undefined
        const refusal = refusedSince !== undefined && clock.monotonic() - refusedSince >= refusedFor
        if (refusal) throw new BerthError(refused(instanceName(instance)))
        return undefined
      })
      if (!found) throw (last === 'missing' ? missing : silent)(instanceName(instance))
      return found.port
    },
    async ready(tunnel) {
      if (!found) throw silent(instanceName(target().instance))
      const { server } = found
      tunnel.askAs(server)
      const jupyter = found
      const has = page && (await tunnel.unbroken(() => hasPage(tunnel.dial, jupyter, page, clock)))
      const begins = has ? page : undefined
      const local = await tunnel.listen('web')
      return { local, url: jupyterAddress(`http://${local.host}:${local.port}`, found, begins) }
    },
  }
}

/**
 * Jupyter's own internet address, for a direct one (`jup_direct`) whose certificate is valid for it, so that nobody
 * else learns the token; else `undefined`. `ca`: trusted in addition to this computer's authorities.
 */
export async function directJupyter(
  { instance }: { instance: Pick<InstanceTarget['instance'], 'runtype' | 'ports'> },
  { token, page }: Pick<JupyterNeeds, 'token' | 'page'>,
  clock: Clock,
  ca?: string,
): Promise<string | undefined> {
  if (!token || !/jupyter_direc|jup_direct/.test(instance.runtype ?? '')) return undefined
  const mapping = instance.ports.find(({ container }) => container === `${jupyterPort}/tcp`)
  if (!mapping || !(await hasValidCertificate(mapping, clock, ca))) return undefined
  const host = mapping.host.includes(':') ? `[${mapping.host}]` : mapping.host
  return jupyterAddress(`https://${host}:${mapping.port}`, { token, basePath: '/' }, page)
}

function missing(name: string): BerthError {
  return new BerthError({
    code: 'jupyter_missing',
    message: `Jupyter isn’t running on ${name}.`,
    advice: 'Start it in a terminal, or choose Jupyter access when you rent.',
  })
}

const refused = (name: string): Problem => ({
  code: 'jupyter_refused',
  message: `Jupyter on ${name} rejected every known token.`,
  advice: 'It may use your own password. Open its port from the list of ports.',
})

function silent(name: string): BerthError {
  return new BerthError({
    code: 'jupyter_silent',
    message: `Jupyter on ${name} wasn’t ready within 3 minutes.`,
    advice: 'Check in a terminal that it’s running, then try again.',
  })
}
