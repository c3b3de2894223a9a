import { instanceName } from '../../../contract/format/name.ts'
import { BerthError } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import { hasValidCertificate } from '../../../ssh/tunnels/certificate.ts'
import {
  hasPage,
  type JupyterPage,
  jupyterAddress,
  listJupyters,
  welcome,
} from '../../../ssh/tunnels/jupyter.ts'
import { chosenJupyter, type ListedJupyter } from '../../../ssh/tunnels/jupyter-list.ts'
import { whatAnswers } from '../../../ssh/tunnels/web.ts'
import type { Access } from '../access.ts'
import type { InstanceTarget } from '../enter.ts'
import { patientlyEvery } from './patience.ts'
import type { Purpose } from './purpose.ts'

/** Where Jupyter listens in an instance (FIELDS: Jupyter). */
export const jupyterPort = 8080

/** Milliseconds that Jupyter may take to be ready once its instance runs. */
const slowest = 180_000

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
 * A tunnel to the instance's Jupyter, with the token of the record or else from the instance itself. Waits until it is
 * ready. Throws `jupyter_missing`, `jupyter_refused` or `jupyter_silent`.
 */
export function jupyterPurpose({ target, token, page, access, clock }: JupyterNeeds): Purpose {
  let server: ListedJupyter = { port: jupyterPort, token: token ?? '', basePath: '/' }

  /** Asks Jupyter itself, since the record's token may be outdated. */
  async function ask(): Promise<ListedJupyter | undefined> {
    const lease = await access.connect(target())
    try {
      return chosenJupyter(await listJupyters(lease.connection, clock), jupyterPort)
    } finally {
      lease.release()
    }
  }

  return {
    kind: 'jupyter',
    name: 'Jupyter',
    port: jupyterPort,
    async locate(lease, { signal, step }) {
      if (token) return jupyterPort
      step('token')
      const { instance } = target()
      const listed = await patientlyEvery(
        1000,
        { clock, signal, atMost: instance.jupyter ? slowest : 0 },
        async () => chosenJupyter(await listJupyters(lease.connection, clock), jupyterPort),
      )
      if (!listed) throw missing(instanceName(instance))
      server = listed
      return listed.port
    },
    async ready(tunnel, { signal, step }) {
      step('waiting')
      let asked = false
      const found = await patientlyEvery(1000, { clock, signal, atMost: slowest }, async () => {
        const answering = await tunnel.unbroken(() => whatAnswers(tunnel.dial, clock))
        if (answering === 'https') tunnel.speakTls()
        if (answering !== 'http' && answering !== 'https') return undefined
        const how = await welcome(tunnel.dial, server, clock)
        if (how === 'ready') return server
        if (how !== 'refused') return undefined
        if (asked) throw refused(instanceName(target().instance))
        asked = true
        const listed = await ask()
        if (listed?.port === server.port) server = listed
        return undefined
      })
      if (found === undefined) throw silent(instanceName(target().instance))
      const has = page && (await tunnel.unbroken(() => hasPage(tunnel.dial, found, page, clock)))
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
    message: `No Jupyter runs in ${name}.`,
    advice: 'Start one in its terminal, or rent with Jupyter as the way in.',
  })
}

function refused(name: string): BerthError {
  return new BerthError({
    code: 'jupyter_refused',
    message: `The Jupyter in ${name} takes neither the service’s token nor its own list’s.`,
    advice: 'It may ask for a password of your own: open its port under the instance’s ports.',
  })
}

function silent(name: string): BerthError {
  return new BerthError({
    code: 'jupyter_silent',
    message: `Jupyter in ${name} was not ready within 3 minutes.`,
    advice: 'Look in its terminal what it is doing, then try again.',
  })
}
