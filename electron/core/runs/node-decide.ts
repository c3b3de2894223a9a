import { isGoing, isYetToEnd } from '#shared/automation/run.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import { nodeOffline } from './messages.ts'
import { isWorker, type Run } from './model.ts'

/** What a node depends on, as of a poll. */
export interface NodeSnapshot {
  /** All nodes of a run on several machines, the first one first. */
  nodes?: readonly Run[]
  /** `gone` once it is certain that it no longer exists; undefined while nothing is known. */
  instance: InstanceView | 'gone' | undefined
}

export type NodeMove =
  | { do: 'wait' }
  /** Makes the network of a run on several machines, for its first node. */
  | { do: 'network' }
  /** Asks a node's machine for its address there. */
  | { do: 'address' }
  /** Ends a node with the first one. */
  | { do: 'leave' }
  /** `quiet`: the user has ended what it waited for. */
  | { do: 'fail'; problem: Problem; quiet?: boolean }

/**
 * The move of a run on several machines for which the others are the reason; undefined where there is none. When the
 * first node ends all end, and one that fails ends all.
 */
export function nodeMove(run: Run, { nodes = [], instance }: NodeSnapshot): NodeMove | undefined {
  if (!run.node || !isGoing(run)) return undefined
  const [head] = nodes
  if (isWorker(run) && !(head?.id === run.node.of && isYetToEnd(head))) return { do: 'leave' }
  if (!isYetToEnd(run)) return undefined
  const broken = firstFailure(nodes)
  if (broken && !isWorker(run)) return { do: 'fail', problem: nodeFailed(broken) }
  if (run.step === 'waiting' && !head?.node?.network?.isMade)
    return isWorker(run) ? { do: 'wait' } : { do: 'network' }
  if (typeof instance === 'object' && run.step !== 'waiting' && hasTrait(instance.state, 'lapsed'))
    return { do: 'fail', problem: nodeOffline }
  return undefined
}

/**
 * The move that a run on several machines makes in place of its next one, once its own machine runs: it waits for the
 * others after boot, after sending and after set-up, and the first node's command begins last.
 */
export function nodeHold(run: Run, { nodes = [] }: NodeSnapshot): NodeMove | undefined {
  const { node, step, begun, code } = run
  if (!node) return undefined
  const isBeyond = (...steps: Run['step'][]) => nodes.every(other => !steps.includes(other.step))
  if (step === 'sending') return isBeyond('waiting') ? undefined : wait
  if (step === 'setup' && !begun) return isBeyond('waiting', 'sending') ? undefined : wait
  if (step !== 'running') return undefined
  if (begun) return isWorker(run) && code !== undefined ? wait : undefined
  if (node.address === undefined) return { do: 'address' }
  if (!nodes.every(other => other.node?.address !== undefined)) return wait
  return isWorker(run) || nodes.every(other => !isWorker(other) || other.begun) ? undefined : wait
}
const wait: NodeMove = { do: 'wait' }

/** The node that failed first. */
function firstFailure(nodes: readonly Run[]): Run | undefined {
  const broken = nodes.filter(({ step, problem }) => step === 'failed' && problem !== undefined)
  return broken.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))[0]
}

/** Why all end, where a node failed; it is named. */
export function nodeFailed({ node, problem }: Pick<Run, 'node' | 'problem'>): Problem {
  const { code = '', message = '', advice } = problem ?? {}
  if (code === otherNode) return { code, message, advice }
  return { code: otherNode, message: `Node ${node?.rank} failed: ${message}`, advice }
}
/** The code of a failure that is another node's. */
export const otherNode = 'node_failed'

/** Whether nothing of a run on several machines is left but their network. `isGone`: whether an instance is for certain. */
export function leavesNetwork(nodes: readonly Run[], isGone: (instance: number) => boolean): boolean {
  const [head] = nodes
  return (
    head?.node?.network !== undefined &&
    nodes.every(
      run => !isGoing(run) && !run.withdrawing && (run.instance === undefined || isGone(run.instance)),
    )
  )
}
