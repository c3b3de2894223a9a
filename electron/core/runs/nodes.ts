import { ServiceError } from '#service/service-error.ts'
import { isYetToEnd } from '#shared/automation/run.ts'
import { canGetIn } from '#shared/derived.ts'
import { instanceName } from '#shared/format/name.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { endRun } from '#ssh/runs/runs.ts'
import { quote } from '#ssh/ssh-command.ts'
import type { AccountContext } from '../account-context.ts'
import { failed, nextStep, over, type RunChange } from './changes.ts'
import {
  addressIn,
  addressQuestion,
  type DistributedLaunch,
  launchOf,
  mpiPort,
  type NodePaths,
  whyNoAddress,
} from './distributed-launch.ts'
import { noAddress } from './messages.ts'
import { isOfProject, isWorker, type ProjectRun, type Run, runCostBy } from './model.ts'
import { nodeFailed, otherNode } from './node-decide.ts'
import { environmentText, type RunMachines, remotePaths, writeEnvironment } from './remote.ts'
import type { RunProjects } from './rooms-above.ts'
import type { StoredRuns } from './stored-runs.ts'

/** Failures in a row to reach a node while others answer: after about a minute and a half. */
const mostUnreached = 5

interface NodeParts {
  runs: StoredRuns
  machines: RunMachines
  projects: Pick<RunProjects, 'chooseCluster' | 'environmentOf'>
}

/** The machines of runs that several run together: their network, and what each of them runs. */
export class RunNodes {
  readonly #context: AccountContext
  readonly #parts: NodeParts

  constructor(context: AccountContext, parts: NodeParts) {
    this.#context = context
    this.#parts = parts
  }

  /** All nodes of a run, the first one first; empty for a run on one machine. */
  of({ node }: Run): readonly Run[] {
    const { runs } = this.#parts
    if (!node) return []
    return runs
      .all()
      .filter(run => run.node?.of === node.of)
      .sort((a, b) => (a.node?.rank ?? 0) - (b.node?.rank ?? 0))
  }

  /** Makes the network, in a cluster that takes one. Throws `no_cluster` or `no_network`. */
  async makeNetwork(run: ProjectRun): Promise<void> {
    const { client, quitting } = this.#context
    const { projects } = this.#parts
    const { network, refused = [] } = run.node ?? {}
    if (!network) {
      const { cluster, offers } = await projects.chooseCluster(run, refused)
      const name = `berth-${run.id.slice(1)}`
      const chosen = offers.map(({ offer, price }) => ({ id: offer.id, price }))
      await this.#change(run, { network: { name, cluster, offers: chosen, isMade: false } })
      return
    }
    // After a kill it may be there already.
    const known = await this.#findNetwork(network.name)
    if (!known) {
      try {
        await client().overlays.create(network.cluster, network.name, { signal: quitting })
      } catch (error) {
        const isRefused =
          error instanceof ServiceError && !error.ambiguous && error.status >= 400 && error.status < 500
        if (!isRefused || error.status === 429 || error.status === 401 || error.status === 403) throw error
        await this.#change(run, { network: undefined, refused: [...refused, network.cluster] })
        return
      }
    }
    await this.#change(run, { network: { ...network, isMade: true } })
  }

  /** Deletes the network once no instance is left in it, which would be destroyed with it. */
  async removeNetwork({ id, node }: Run): Promise<void> {
    const { deletions } = this.#context
    const { runs } = this.#parts
    if (!node?.network) return
    await deletions.delete({ kind: 'overlay', name: node.network.name })
    const run = runs.find(id)
    if (run) await this.#change(run, { network: undefined })
  }

  /** Asks a machine for its address in the network. Throws `no_address`. */
  async readAddress(run: Run): Promise<void> {
    const { machines } = this.#parts
    const { network } = this.of(run)[0]?.node ?? {}
    const known = network && (await this.#findNetwork(network.name))
    const others = this.of(run).flatMap(({ id, node }) => (id === run.id ? [] : (node?.address ?? [])))
    const asked = [await machines.ask(run, addressQuestion), known?.internal_subnet, others] as const
    const found = addressIn(...asked)
    if (!found) throw new BerthError(noAddress(whyNoAddress(...asked), known?.internal_subnet))
    await this.#change(run, found)
  }

  /** The command of a node, whose environment it writes to its machine; undefined for a run on one machine. */
  async prepare(run: ProjectRun): Promise<string | undefined> {
    const { projects, machines } = this.#parts
    const nodes = this.of(run)
    const { rank } = run.node ?? {}
    if (rank === undefined) return undefined
    const places = nodes.map(({ node, gpu }) => ({
      address: node?.address ?? '',
      link: node?.link ?? '',
      gpus: gpu?.count ?? 1,
    }))
    const paths = remotePaths(run)
    const { environment, command }: DistributedLaunch = launchOf(run.project.spec, places, rank, paths)
    const { engine } = run.project.spec
    const token = engine === 'ray' ? await this.#tokenOn(nodes[0] ?? run) : {}
    // The file may name other network interfaces; all else that it could have is refused.
    const values = { ...environment, ...(await projects.environmentOf(run)), ...token }
    await machines.ask(run, writeEnvironment(run), environmentText(values))
    if (engine === 'mpi') await this.#placeKey(run, nodes, paths)
    return command
  }

  /** Why another node may be the reason for a command that failed: its machine stopped, or no longer answers. */
  async brokenBeside(run: Run): Promise<Problem | undefined> {
    const { poll } = this.#context
    const { machines } = this.#parts
    await poll()
    for (const other of this.of(run)) {
      if (other.id === run.id || other.instance === undefined) continue
      const view = machines.viewOf(other.instance)
      if (view && canGetIn(view) && (await this.#answers(other))) continue
      const name = view ? instanceName(view) : `#${other.instance}`
      const message = !view || canGetIn(view) ? `${name} no longer answers.` : `${name} is ${view.state}.`
      const advice = 'Run it again to rent other machines.'
      return nodeFailed({ node: other.node, problem: { code: 'node_gone', message, advice } })
    }
    return undefined
  }

  /**
   * Whether a node's machine is lost: it can't be reached for so many failures in a row, and another node can be. The
   * other nodes may wait for it for long.
   */
  async isCutOff(run: Run, { code }: Problem, fails: number): Promise<boolean> {
    if (!code.startsWith('ssh_') || fails < mostUnreached) return false
    for (const other of this.of(run))
      if (other.id !== run.id && other.instance !== undefined && (await this.#answers(other))) return true
    return false
  }

  /** Ends a node's command. Never rejects. */
  async endCommand(run: Run): Promise<void> {
    const { platform } = this.#context
    const { machines } = this.#parts
    const { program } = run
    if (program === undefined || !run.begun) return
    await machines
      .inside(run, connection => endRun(connection, platform.clock, program))
      .catch(() => undefined)
  }

  async #findNetwork(name: string) {
    const { client, quitting } = this.#context
    const all = await client().overlays.list({ signal: quitting })
    return all.find(overlay => overlay.name === name)
  }

  async #change(run: Run, changed: Partial<NonNullable<Run['node']>>): Promise<void> {
    const { runs } = this.#parts
    await runs.intend(run.id, { node: run.node && { ...run.node, ...changed } })
  }

  async #answers(run: Run): Promise<boolean> {
    const { machines } = this.#parts
    try {
      await machines.ask(run, 'true')
      return true
    } catch {
      return false
    }
  }

  /** The token without which a node's Ray takes no work. The first node makes it; a kill leaves the one that is there. */
  async #tokenOn(head: Run): Promise<Record<string, string>> {
    const { machines } = this.#parts
    if (!isOfProject(head)) return {}
    const folder = quote([remotePaths(head).ssh])
    const make = `od -An -N32 -tx1 /dev/urandom | tr -d ' \\n' > ${folder}/token`
    const token = await machines.ask(
      head,
      `cd && umask 077 && mkdir -p ${folder} && { [ -s ${folder}/token ] || ${make}; } && cat ${folder}/token`,
    )
    return { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token }
  }

  /** The key of a node's SSH server, which Berth asks for over its own connection. */
  async #hostLine(node: Run, { ssh }: NodePaths): Promise<string> {
    const { machines } = this.#parts
    const host = quote([`${ssh}/host`])
    const make =
      `cd && umask 077 && mkdir -p ${quote([ssh])} && { [ -f ${host} ] || ssh-keygen ` +
      `-q -t ed25519 -N '' -f ${host}; } && cat ${host}.pub`
    return `[${node.node?.address}]:${mpiPort} ${await machines.ask(node, make)}`
  }

  /**
   * The first node makes a key for this run, and knows the others by their servers' keys; the others let it in. A kill
   * leaves the keys that are there.
   */
  async #placeKey(run: Run, nodes: readonly Run[], paths: NodePaths): Promise<void> {
    const { machines } = this.#parts
    const [head, ...others] = nodes
    const { ssh } = paths
    if (!head || !isOfProject(head)) return
    const key = quote([`${remotePaths(head).ssh}/key`])
    const make =
      `cd && umask 077 && mkdir -p ${quote([remotePaths(head).ssh])} && { [ -f ${key} ] ` +
      `|| ssh-keygen -q -t ed25519 -N '' -f ${key}; } && cat ${key}.pub`
    const publicKey = await machines.ask(head, make)
    const folder = quote([ssh])
    if (run.id === head.id) {
      const lines = await Promise.all(others.map(other => this.#hostLine(other, paths)))
      await machines.ask(run, `cd && cat > ${folder}/known_hosts`, `${lines.join('\n')}\n`)
      return
    }
    await machines.ask(
      run,
      `cd && umask 077 && mkdir -p ${folder} && cat > ${folder}/key.pub`,
      `${publicKey}\n`,
    )
  }
}

/**
 * A node that fails: its machine is taken back, unless it is the first and its command began. That one downloads what
 * results there are, and is stopped with its files, as any failed run. `at`: epoch seconds.
 */
export function nodeFailure(run: Run, problem: Problem, at: number): RunChange {
  const { step, begun, outcome } = run
  const hasBegun = !isYetToEnd(run) || (step === 'running' && begun === true)
  if (!isWorker(run) && hasBegun) {
    if (outcome || problem.code !== otherNode) return failed(run, problem, at)
    const change: RunChange = { outcome: { failedAt: step, problem }, afterwards: 'stop' }
    return { ...change, ...nextStep({ ...run, ...change }, at) }
  }
  return {
    step: 'failed',
    failedAt: step,
    problem,
    ...takenBack,
    finalAction: run.instance === undefined ? undefined : 'destroy',
    endedAt: at,
    spentBefore: runCostBy(run, at),
    spent: undefined,
  }
}
const takenBack = { withdrawing: true } satisfies RunChange

/** A node whose work is over with the first one: its machine is destroyed, or what is being rented for it. */
export function nodeLeft(run: Run, isDone: boolean, at: number): RunChange {
  return { ...over(run, isDone ? 'done' : 'cancelled', at), ...takenBack }
}
