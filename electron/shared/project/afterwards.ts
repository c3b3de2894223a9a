import { rate } from '../format/money.ts'
import { named } from '../format/name.ts'
import { counted } from '../format/size.ts'
import { duration } from '../format/time.ts'
import { type Micros, micros } from '../spending/money.ts'
import { beforeStopWords } from './before-stop.ts'
import { dearestOf } from './bounds.ts'
import { copyFirstWords, leavesBefore } from './copy-first.ts'
import { gpusInAll, nodeCount } from './nodes.ts'
import { keptWords, type PlanCosts, stoppedWords } from './plan-costs.ts'
import type { ProjectPlan } from './project.ts'
import { retryWords } from './retry.ts'
import type { Keeping, ProjectSpec } from './spec.ts'
import { startWords } from './start-time.ts'
import { checkpointEvery, storeOf, storeWords } from './store.ts'
import { settingsOf } from './sweep.ts'

/** Sentences on the results, the end of the machine, and moving to another machine if outbid. */
export function planAfterwards(spec: ProjectSpec, keeping: Keeping, costs: PlanCosts | undefined): string[] {
  const { results, after, outbid, retry, before_stop, keep = 0, nodes = 1 } = spec
  const checkpoint = storeOf(spec) ? undefined : checkpointEvery(spec)
  const home = results === undefined ? [] : [results].flat()
  const isSweep = settingsOf(spec) !== undefined
  const machine = nodes > 1 ? 'node 0’s machine' : isSweep ? 'each machine' : 'the machine'
  const then =
    keep > 0 ? `Then ${machine} waits for the next run. After ${duration(keep)} without one,` : 'Then'
  const [failed, failedOn] = isSweep ? ['a run', 'its machine'] : ['the run', machine]
  return [
    ...startWords(spec),
    home.length === 0
      ? 'No results are downloaded.'
      : `Berth downloads ${named(home)}${
          checkpoint === undefined ? '' : `, every ${duration(checkpoint)} and at the end`
        }.`,
    after === 'stop'
      ? `${then} ${machine} is stopped. ${stoppedWords(costs)}`
      : `${then} ${machine} and its disk are destroyed${keep > 0 || home.length === 0 ? '' : ', once all results are downloaded'}.`,
    ...(nodes > 1 ? ['The other nodes’ machines are destroyed in any case.'] : []),
    ...storeWords(spec),
    ...retryWords(retry),
    ...beforeStopWords(before_stop, spec.stop !== undefined),
    `If ${failed} fails or reaches a limit, ${failedOn} is stopped. ${keptWords(keeping, costs)}`,
    ...(outbid && outbid.elsewhere > 0
      ? [
          `If its machine ${spec.machine?.interruptible ? 'is outbid, crashes' : 'crashes'} or goes offline, it continues on ` +
            `another one, at most ${counted(outbid.elsewhere, 'time')}.`,
          ...(nodes === 1 && (home.length > 0 || storeOf(spec))
            ? [
                `It leaves ${duration(leavesBefore)} before maintenance that its host announces, with its results.`,
              ]
            : []),
        ]
      : []),
    ...copyFirstWords(spec, costs?.disk),
  ]
}

/** The highest bid for a machine at that price per hour; empty for one that is rented on-demand. */
export function bidPlanWords(spec: ProjectSpec, price: Micros | undefined): string[] {
  if (!spec.machine?.interruptible) return []
  const dearest = dearestOf(spec, price)
  return [
    `Interruptible: ${dearest === undefined ? 'Berth bids' : `Berth bids at most ${rate(dearest)}`}, and others may outbid you.`,
  ]
}

/** The number of processes for which a command asks accelerate; NaN where it doesn't say. */
function processesOf(run: string): number {
  const words = run.split(/[\s=]+/)
  const at = words.findIndex(word => word === '--num_processes' || word === '--num-processes')
  return at >= 0 && words.some(word => word.includes('accelerate')) ? Number(words[at + 1]) : Number.NaN
}

/** What becomes of a run that finds no offer within its price, and what one would take now. */
export function waitWords({ spec, offer, above }: Pick<ProjectPlan, 'spec' | 'offer' | 'above'>): string[] {
  const { wait, machine } = spec
  if (wait === undefined || machine?.price === undefined || settingsOf(spec)) return []
  const most = rate(micros(machine.price))
  const now = above ? ` The cheapest one costs ${rate(above.price)} now.` : ''
  return [
    offer
      ? `If no offer is left at up to ${most}, it waits for one, at most ${duration(wait)}.`
      : `No offer fits at up to ${most} now.${now} The run waits for one, at most ${duration(wait)}, and costs nothing until then.`,
  ]
}

/** What a file says that changes nothing, and the GPUs that its command leaves alone, with the reason. */
export function unusedWords(spec: ProjectSpec): string[] {
  const { results, checkpoint, engine, at_once, sweep, wait, env = {} } = spec
  const names = new Set([sweep ?? []].flat().flatMap(values => Object.keys(values)))
  const [gpus, processes] = [gpusInAll(spec), processesOf(spec.run)]
  const replaced = Object.keys(env).filter(name => names.has(name))
  return [
    checkpoint !== undefined &&
      results === undefined &&
      storeOf(spec)?.paths === undefined &&
      'checkpoint does nothing: no results are named.',
    engine !== undefined && nodeCount(spec) === 1 && 'engine does nothing on one machine: nodes is missing.',
    wait !== undefined && settingsOf(spec) && 'wait does nothing: a sweep waits for machines by itself.',
    at_once !== undefined && !settingsOf(spec) && 'at_once does nothing: there is no sweep.',
    replaced.length > 0 &&
      `The sweep’s ${named(replaced)} replace${replaced.length === 1 ? 's' : ''} the value in env.`,
    nodeCount(spec) > 1 &&
      processes < gpus &&
      `accelerate uses ${processes} of ${gpus} GPUs: --num_processes counts all machines.`,
  ].filter(words => typeof words === 'string')
}
