import type { Clock } from '#platform/platform.ts'
import { type WebApp, webApps } from '#shared/instance/web-apps.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { openChannel, PortRefused } from '#ssh/tunnels/channel.ts'
import { containerVariables, type WebLogin, webLogin } from '#ssh/tunnels/container-variables.ts'
import { statusOf, whatAnswers } from '#ssh/tunnels/web.ts'
import type { Access } from './access.ts'
import type { InstanceTarget } from './connect-with-key.ts'
import { type Purpose, patientlyEvery } from './instance-tunnel.ts'

/** Milliseconds that a page may take to listen: an image's programs begin after its SSH. */
const slowest = 60_000
/** Answers of a login in front of a page. */
const needsLogin = new Set([401, 403])

export interface AppNeeds {
  target: () => InstanceTarget
  access: Pick<Access, 'connect'>
  clock: Clock
}

/**
 * A tunnel to a page that the image names: to the program itself where it listens without a login, which only the
 * instance's own programs reach and this tunnel; else through the login, with the token that is read there. Throws
 * `app_silent`.
 */
export function appPurpose(app: WebApp, { target, access, clock }: AppNeeds): Purpose {
  const { name, port, innerPort, path } = app
  /** The port where it was found. */
  let at = port
  return {
    kind: 'app',
    name,
    port,
    async locate({ signal, step }) {
      step('waiting')
      const found = await patientlyEvery(1000, { clock, signal, atMost: slowest }, async () => {
        const { connection, release } = await access.connect(target())
        try {
          if (await listensAt(connection, innerPort)) return innerPort
          return (await listensAt(connection, port)) ? port : undefined
        } finally {
          release()
        }
      })
      if (found === undefined) throw silent(app)
      at = found
      return found
    },
    async ready(tunnel) {
      const answering = await tunnel.unbroken(() => whatAnswers(tunnel.dial, at, clock, { path }))
      if (typeof answering === 'string') return { local: await tunnel.listen('either') }
      const { server, status } = answering
      tunnel.askAs(server)
      const local = await tunnel.listen('web')
      const url = new URL(path, `http://${local.host}:${local.port}`)
      if (!needsLogin.has(status)) return { local, url: url.href }
      const login = await readLogin({ target, access, clock })
      const withToken = new URL(url)
      if (login) withToken.searchParams.set('token', login.password)
      const question = { path: `${withToken.pathname}${withToken.search}` }
      const granted = await tunnel.unbroken(() => statusOf(tunnel.dial, clock, server, question))
      // Where the image's login takes no token, the browser asks for the user and the password.
      return { local, url: granted === undefined || needsLogin.has(granted) ? url.href : withToken.href }
    },
  }
}

/** The login in front of an image's pages, read on the instance. Throws as connecting does. */
export async function readLogin({ target, access, clock }: AppNeeds): Promise<WebLogin | undefined> {
  const { connection, release } = await access.connect(target())
  try {
    return webLogin(await containerVariables(connection, clock))
  } finally {
    release()
  }
}

/** The pages that the image itself names, which the service does not know. Throws as connecting does. */
export async function namedByImage(connection: Connection, clock: Clock): Promise<WebApp[]> {
  return webApps(await containerVariables(connection, clock))
}

/** Whether anything listens at a port. Throws `ssh_closed`. */
export async function listensAt(connection: Connection, port: number): Promise<boolean> {
  try {
    const channel = await openChannel(connection, port)
    channel.on('error', () => undefined)
    channel.destroy()
    return true
  } catch (error) {
    if (error instanceof PortRefused) return false
    throw error
  }
}

function silent({ name, port }: WebApp): BerthError {
  return new BerthError({
    code: 'app_silent',
    message: `${name} isn’t listening on port ${port} yet.`,
    advice: 'It may still be starting. See its log, then try again.',
  })
}
