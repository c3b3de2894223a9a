import { createServer, type Server } from 'node:http'
import { accountNow, creditBy, isOnTheMeter, spentBy } from '#shared/derived.ts'
import type { State } from '#shared/state.ts'
import { isGoing } from '../shared/automation/run.ts'

/** A running Berth, as far as its figures need it. */
interface Watched {
  state(): State
  onChange(listener: (after: State) => void): () => void
}

type Labels = Readonly<Record<string, string>>

/** Prometheus's text format, version 0.0.4: what each account has and costs. Amounts in dollars. `now`: epoch milliseconds. */
export function metricsText(state: State, now: number): string {
  const lines: string[] = []
  function metric(
    name: string,
    help: string,
    samples: readonly (readonly [Labels, number | undefined])[],
  ): void {
    const known = samples.flatMap(([labels, value]) =>
      value === undefined ? [] : [`berth_${name}${labelled(labels)} ${value}`],
    )
    if (known.length > 0) lines.push(`# HELP berth_${name} ${help}`, `# TYPE berth_${name} gauge`, ...known)
  }
  const accounts = Object.values(state.accounts)
  const each = <Value>(value: (account: (typeof accounts)[number], now: number) => Value) =>
    accounts.map(
      account => [{ account: account.name }, value(account, accountNow(account.clock, now))] as const,
    )
  const instances = accounts.flatMap(account =>
    Object.values(account.instances).map(instance => {
      const { id, label = '', gpu } = instance
      const labels = { account: account.name, instance: String(id), label, gpu: gpu?.name ?? '' }
      return { instance, labels, at: accountNow(account.clock, now) }
    }),
  )
  const dollars = (micros: number | undefined) => (micros === undefined ? undefined : micros / 1_000_000)

  metric(
    'account_online',
    'Whether the last answer of the service is current.',
    each(({ connection }) => (connection.status === 'online' ? 1 : 0)),
  )
  metric(
    'credit_dollars',
    'The credit.',
    each((account, at) => dollars(creditBy(account, at))),
  )
  metric(
    'spend_dollars_per_hour',
    'What all instances cost per hour.',
    each(({ spendPerHour }) => dollars(spendPerHour)),
  )
  metric(
    'runs_going',
    'Runs in progress.',
    each(({ runs }) => Object.values(runs).filter(isGoing).length),
  )
  metric(
    'instance_running',
    'Whether its GPUs are charged.',
    instances.map(({ instance, labels }) => [labels, isOnTheMeter(instance) ? 1 : 0]),
  )
  metric(
    'instance_gpu_load_percent',
    'The load of its GPUs.',
    instances.map(({ instance, labels }) => [labels, instance.gpuLoad]),
  )
  metric(
    'instance_gpus',
    'The number of its GPUs.',
    instances.map(({ instance, labels }) => [labels, instance.gpu?.count]),
  )
  metric(
    'instance_cost_dollars_per_hour',
    'What it costs per hour now.',
    instances.map(({ instance, labels }) => [
      labels,
      instance.costUnknown ? undefined : dollars(instance.costPerHour),
    ]),
  )
  metric(
    'instance_spent_dollars',
    'What it has cost.',
    instances.map(({ instance, labels, at }) => [labels, dollars(spentBy(instance, at))]),
  )
  return `${lines.join('\n')}\n`
}

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${pairs.join(',')}}`
}

/** Names come from the service: they end no label and begin no line. */
function escaped(value: string): string {
  return value
    .slice(0, 200)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')
}

/**
 * Serves the figures at /metrics on 127.0.0.1, on the port in the settings, while there is one. A port that is taken is said in
 * the log. Gives the function that ends it.
 */
export function serveMetrics(
  berth: Watched,
  log: (line: string) => void,
  now: () => number = Date.now,
): () => Promise<void> {
  let serving: { port: number; server: Server } | undefined

  async function stop(): Promise<void> {
    const server = serving?.server
    serving = undefined
    if (!server) return
    await new Promise(resolve => {
      server.close(resolve)
      server.closeAllConnections()
    })
  }

  function follow({ settings: { metricsPort: port } }: State): void {
    if (port === (serving?.port ?? 0)) return
    void stop()
    if (port === 0) return
    const server = createServer((request, response) => {
      // A web page that leads a name of its own here gets nothing.
      const isOwn =
        request.headers.host === `127.0.0.1:${port}` || request.headers.host === `localhost:${port}`
      if (!isOwn || request.method !== 'GET' || request.url !== '/metrics')
        return void response.writeHead(isOwn ? 404 : 403).end()
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
      response.end(metricsText(berth.state(), now()))
    })
    server.on('error', error => log(`the figures for Prometheus aren’t served: ${error.message}`))
    server.listen(port, '127.0.0.1')
    serving = { port, server }
  }

  follow(berth.state())
  const ignore = berth.onChange(follow)
  return async () => {
    ignore()
    await stop()
  }
}
