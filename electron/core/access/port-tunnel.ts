import type { Clock } from '#platform/platform.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Instance } from '#service/instances.ts'
import type { OfferedPort } from '#shared/instance/tunnel.ts'
import type { WebApp } from '#shared/instance/web-apps.ts'
import { readOptions } from '#shared/market/docker-options.ts'
import { firstWords } from '#shared/market/shell-words.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { whatAnswers } from '#ssh/tunnels/web.ts'
import { listensAt } from './app-tunnel.ts'
import { type Purpose, patientlyEvery } from './instance-tunnel.ts'

/** Milliseconds to wait for something to listen: users mostly ask for a port just after they started a server. */
const slowest = 20_000

/** A tunnel to any port. Throws `port_silent` when nothing listens there. */
export function portPurpose(port: number, clock: Clock): Purpose {
  return {
    kind: 'port',
    name: usualName(port),
    port,
    async ready(tunnel, { signal, step }) {
      step('waiting')
      const answering = await patientlyEvery(1000, { clock, signal, atMost: slowest }, async () => {
        const found = await tunnel.unbroken(() => whatAnswers(tunnel.dial, port, clock))
        return found === 'nothing' ? undefined : found
      })
      if (answering === undefined) throw new BerthError(silent(port))
      if (answering === 'other') return { local: await tunnel.listen('other') }
      // A silent server is most likely a slow web page; a browser will wait for it.
      if (answering !== 'silent') tunnel.askAs(answering.server)
      const local = await tunnel.listen(answering === 'silent' ? 'either' : 'web')
      return { local, url: `http://${local.host}:${local.port}/` }
    },
  }
}

/**
 * The ports requested when an instance was rented: those the service maps (`ports`), those of its environment (`-p
 * 8188:8188`, section 2.1), and those of its template. UDP and SSH are left out, as they serve no web pages.
 */
export function rentedPorts(
  { ports, extra_env }: Pick<Instance, 'ports' | 'extra_env'>,
  ofTemplate: readonly number[] = [],
): number[] {
  const mapped = Object.keys(ports ?? {}).flatMap(name => /^(\d{1,5})\/tcp$/.exec(name)?.[1] ?? [])
  const requestedPorts = (extra_env ?? []).flatMap(
    ([name]) => /^-p \d{1,5}:(\d{1,5})(?:\/tcp)?$/.exec(name)?.[1] ?? [],
  )
  const found = [...mapped, ...requestedPorts, ...ofTemplate]
    .map(Number)
    .filter(port => port > 0 && port < 65_536 && port !== 22)
  return [...new Set(found)].sort((a, b) => a - b)
}

/**
 * Probes these ports and the usual ones; returns those that answer and those that were rented. Images whose web
 * interfaces ask for a login have each without it at a port above, which only this machine's own programs reach, and
 * Berth. Throws `ssh_closed`.
 */
export async function offeredPorts(
  lease: SharedConnection,
  rented: readonly number[],
  apps: readonly WebApp[] = [],
): Promise<OfferedPort[]> {
  const named = new Map(
    apps.flatMap(
      ({ name, port, innerPort }) =>
        [
          [innerPort, name],
          [port, name],
        ] as const,
    ),
  )
  const portName = (port: number) => named.get(port) ?? usualName(port)
  // Opened by its name, a page is at the better of its two ports.
  const innerPorts = new Set(apps.filter(app => app.innerPort !== app.port).map(app => app.innerPort))
  const ports = [...new Set([...rented, ...usualPorts, ...apps.map(({ port }) => port)])]
  const inner = ports
    .map(port => port + behindLogin)
    .filter(port => port <= 65_535 && !ports.includes(port) && !innerPorts.has(port))
  const tried = await Promise.all(
    [...ports, ...inner].map(async port => ({
      port,
      name: portName(port),
      answers: await listensAt(lease.connection, port),
    })),
  )
  const withApp = (found: OfferedPort) => {
    const app = apps.find(({ port }) => port === found.port)
    return app ? { ...found, app: app.name } : found
  }
  const answering = new Set(tried.flatMap(({ port, answers }) => (answers ? port : [])))
  return tried
    .flatMap(found => {
      if (!inner.includes(found.port))
        return found.answers || rented.includes(found.port) ? withApp(found) : []
      const outer = found.port - behindLogin
      return found.answers && answering.has(outer)
        ? { ...found, name: `${portName(outer)} without login` }
        : []
    })
    .sort((a, b) => a.port - b.port)
}

/** ComfyUI is at 18188 if its login is at 8188. */
const behindLogin = 10_000

const silent = (port: number): Problem => ({
  code: 'port_silent',
  message: `Nothing is listening on port ${port} of the instance.`,
  advice: 'Start the server there, then try again.',
})

/** The usual ports of well-known web interfaces, with their names. */
const names: ReadonlyMap<number, string> = new Map([
  [8080, 'Jupyter'],
  [8188, 'ComfyUI'],
  [7860, 'Gradio'],
  [8000, 'vLLM'],
  [6006, 'TensorBoard'],
  [11434, 'Ollama'],
  [8888, 'Jupyter Notebook'],
  [8501, 'Streamlit'],
  [8265, 'Ray'],
  [5000, 'MLflow'],
  [9090, 'InvokeAI'],
])

/** Ports that are probed by default. */
const usualPorts: readonly number[] = [...names.keys(), 3000]

/** The web interface usually found at a port, guessed from the number alone. */
function usualName(port: number): string {
  return names.get(port) ?? `Port ${port}`
}

/** The length that is parsed of an `env`, in characters. */
const longestEnv = 65_536

/**
 * The TCP ports that a template's `env` publishes, by their number inside the instance (section 2.3): 8188 for `-p
 * 8188:8188 -e NAME="-p 1:1"`.
 */
export function publishedPorts(env: string): number[] {
  const { words } = firstWords(env.slice(0, longestEnv))
  const { ports } = readOptions(words, 'goes on')
  return ports.filter(({ protocol }) => protocol === 'tcp').map(({ container }) => Number(container))
}

/** The ports of an instance's template; none where it cannot be loaded. */
export async function portsOfTemplate(
  templates: Pick<ServiceClient['templates'], 'search'>,
  hash: string | undefined,
): Promise<number[]> {
  if (!hash) return []
  const found = await templates.search({ hash_id: { eq: hash } }).catch(() => [])
  return found.filter(({ hash_id }) => hash_id === hash).flatMap(({ env }) => publishedPorts(env ?? ''))
}
