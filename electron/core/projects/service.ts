import type { SyncRequest } from '#shared/account/transfer.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { noticeProblem } from '#shared/project/before-stop.ts'
import {
  type Borrowed,
  borrowedQuestion,
  cloudUses,
  keyUse,
  secretUse,
  type Use,
  usesMade,
  volumeUse,
} from '#shared/project/borrowed.ts'
import { dearestOf, keepingOf, resultsOf, retryBudget } from '#shared/project/bounds.ts'
import { nodeCount, nodesProblem } from '#shared/project/nodes.ts'
import type { ProjectPlan } from '#shared/project/project.ts'
import { type Keeping, mostRuns, type ProjectSpec } from '#shared/project/spec.ts'
import { isDaily, nextStart } from '#shared/project/start-time.ts'
import { storeOf } from '#shared/project/store.ts'
import { keyLines, keyVariables } from '#shared/project/store-place.ts'
import { atOnceOf, settingsOf } from '#shared/project/sweep.ts'
import { type Spender, spenderOf } from '#shared/spending/spender.ts'
import type { AccountContext } from '../account-context.ts'
import type { Transfers } from '../copies/perform.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { RunProjects } from '../runs/rooms-above.ts'
import type { Runs } from '../runs/service.ts'
import type { Sweeps } from '../sweeps/perform.ts'
import { checkConnections, copiesFrom, copiesTo, copyAll } from './clouds.ts'
import { commitOf } from './commit.ts'
import {
  type Chosen,
  chooseCluster,
  type MarketRentals,
  planMarket,
  planNodes,
  projectRequest,
  searchMarket,
  secretsOf,
  seekOffer,
} from './plan.ts'
import type { AgreedSpec, OwnUse, Projects } from './projects.ts'
import type { ProjectSecrets } from './secrets.ts'

/** The terms of a run that the user agreed to. */
export interface NewProjectRun extends Pick<AgreedSpec, 'text' | 'spec'> {
  project: string
  /** The offer to try first; the best one if absent. */
  offer?: number
  limits: readonly Limit[]
  /** How long its machine is kept if it fails; by the file if absent. */
  keeping?: Keeping
  /** Micro-dollars per hour of the machine that was shown, if any. */
  price?: number
  /** Micro-dollars by the plan: the highest cost in all, and its parts for the disk of a failed run, a new volume and machines left. */
  most?: number
  keptCost?: number
  volumeCost?: number
  leftCost?: number
  secretFiles: readonly string[]
  /** What the project may use of the user's from now on. */
  allow?: readonly Use[]
  /** The agent or script that asked for it; the project pays by default. */
  by?: Spender | undefined
}

/** Their dependencies, besides the account. */
interface ProjectRunParts {
  projects: Projects
  secrets: ProjectSecrets
  rentals: MarketRentals
  runs: Pick<Runs, 'all' | 'get' | 'begin' | 'refuseIfBusy' | 'waiting'>
  sweeps: Pick<Sweeps, 'start'>
  transfers: Pick<Transfers, 'needsWideKey'>
}

/** The runs of projects on one account: each sends a folder to a machine, runs it there and downloads its results. */
export function createProjectRuns(
  context: AccountContext,
  { projects, secrets, rentals, runs, sweeps, transfers }: ProjectRunParts,
) {
  /** What a file uses of the user's: secrets that have a value, a volume, and clouds with the key for their copies. */
  function usesOf(spec: ProjectSpec): OwnUse[] {
    const { account } = context
    const wanted = secretsOf(spec)
    const missing = secrets.missing(wanted)
    const clouds = cloudUses(spec)
    return [
      ...wanted.filter(name => !missing.includes(name)).map(name => ({ use: secretUse(name) })),
      ...(spec.volume ? [{ use: volumeUse(spec.volume), account }] : []),
      ...clouds.map(use => ({ use, account })),
      ...(clouds.length > 0 && transfers.needsWideKey() ? [{ use: keyUse, account }] : []),
    ]
  }

  /** That the project begins at the same time every day already; undefined where it doesn't. */
  function daily(id: string, { start = '' }: ProjectSpec): Problem | undefined {
    const at = context.now()
    const isSame = (other: string) => isDaily(other) && nextStart(other, at) === nextStart(start, at)
    const goesOn = runs
      .all()
      .filter(({ step, followed, project }) => project?.id === id && step !== 'cancelled' && !followed)
    return isDaily(start) && goesOn.some(({ project }) => isSame(project?.spec.start ?? ''))
      ? alreadyDaily(projects.name(id), start)
      : undefined
  }

  return {
    /** The plan, before anything costs money. Throws as a scan of the folder and a search of the market do. */
    async plan(
      project: string,
      spec: ProjectSpec,
      { by, ...chosen }: Chosen & { by?: Spender | undefined } = {},
    ): Promise<Omit<ProjectPlan, 'content' | 'known'>> {
      refuseNodes(spec)
      // First, since it throws at once, and nobody would await the search then.
      const { path } = projects.folder(project)
      const settings = settingsOf(spec)
      if (settings && settings.length > mostRuns) throw new BerthError(tooManyRuns(settings.length))
      const instances = context.store.get().accounts[context.account]?.instances
      const waiting = (nodeCount(spec) > 1 ? [] : runs.waiting.allFor(project, spec, by)).flatMap(
        ({ instance, until }) => {
          const { pricePerHour, diskPricePerHour: disk } = instances?.[instance] ?? {}
          return pricePerHour === undefined ? [] : { instance, pricePerHour, disk, until }
        },
      )
      const reused = settings ? waiting.slice(0, atOnceOf(spec, settings.length)) : []
      const [{ secrets: wanted, ...market }, scan] = await Promise.all([
        nodeCount(spec) > 1
          ? planNodes(context, rentals, spec, chosen)
          : planMarket(context, rentals, spec, chosen, reused),
        context.sync.scan(path, { results: resultsOf(spec) }),
        checkConnections(context, spec),
      ])
      refuseNotice(spec, market.limits, market.pricePerHour)
      return {
        ...market,
        problem: daily(project, spec) ?? market.problem,
        spec,
        keeping: keepingOf(spec),
        waiting: settings ? undefined : waiting[0],
        scan,
        missingSecrets: secrets.missing(wanted),
        borrowed: projects
          .borrowed(project, usesOf(spec))
          .filter(({ use }) => !usesMade(market).includes(use)),
        wideKey: transfers.needsWideKey(),
      }
    },
    /** The file and stop conditions that the user agreed to for a run. */
    agreed(run: string): Pick<NewProjectRun, 'text' | 'spec' | 'limits'> {
      const { project } = runs.get(run)
      if (!project) throw new BerthError(noProject)
      return project
    },
    /** Resolves with the run's id, or the sweep's, once it is on disk. Throws `project_busy`, `already_daily` or `too_many_runs`. */
    async start({
      project: id,
      text,
      spec,
      offer,
      limits,
      keeping,
      price,
      most,
      keptCost,
      volumeCost,
      leftCost,
      secretFiles,
      allow = [],
      by,
    }: NewProjectRun): Promise<string> {
      refuseNodes(spec)
      refuseNotice(spec, limits, price)
      runs.refuseIfBusy(id)
      const second = daily(id, spec)
      if (second) throw new BerthError(second)
      const uses = usesOf(spec)
      const refused = projects.borrowed(id, uses).filter(({ use }) => !allow.includes(use))
      if (refused.length > 0) throw new BerthError(notAllowed(refused))
      await projects.allow(id, uses)
      const name = spec.name ?? projects.name(id)
      const folder = projects.folder(id).path
      const agreed = {
        id,
        folder,
        text,
        spec,
        offer,
        keeping,
        price,
        most,
        keptCost,
        volumeCost,
        leftCost,
        limits: [...limits],
        secretFiles: [...secretFiles],
        by: by ?? spenderOf('project', name),
      }
      const { keep } = spec
      const settings = settingsOf(spec)
      const nodes = nodeCount(spec)
      const newRun = {
        name,
        command: spec.run,
        project: agreed,
        keep,
        afterwards: spec.after ?? ('destroy' as const),
        watchdog: false,
        stuckAfter: 0,
        afterwardsIfStuck: false,
        startsAt: spec.start === undefined ? undefined : nextStart(spec.start, context.now()),
      }
      const there =
        offer === undefined && !spec.start ? runs.waiting.allFor(id, spec, by)[0]?.instance : undefined
      const run = settings
        ? await sweeps.start({
            name,
            project: agreed,
            settings,
            atOnce: atOnceOf(spec, settings.length),
            keep,
          })
        : nodes > 1
          ? await runs.begin.startNodes(newRun, nodes)
          : await runs.begin.startOfProject(newRun, there)
      context.activity.add({ account: context.account, kind: 'user', text: `Asked to run ${name}` })
      return run
    },
  }
}

/** The rentals and folders of projects' runs, under the agreed terms. */
export function createRunProjects(
  context: AccountContext,
  {
    projects,
    secrets,
    rentals,
    transfers,
  }: {
    projects: Pick<Projects, 'isAllowed'>
    secrets: ProjectSecrets
    rentals: Pick<Rentals, 'start' | 'hosts' | 'usedMachines'>
    transfers: Pick<Transfers, 'syncToEnd'>
  },
): RunProjects {
  /** With the key that the user allowed the project. */
  function keyed(project: string, copies: readonly SyncRequest[]): SyncRequest[] {
    const wideKey = projects.isAllowed(project, { use: keyUse, account: context.account })
    return copies.map(copy => ({ ...copy, wideKey }))
  }

  async function secretOf({ secret: name }: { secret: string }): Promise<string> {
    const value = await secrets.get(name)
    if (value === undefined) throw new BerthError(secretMissing(name))
    return value
  }

  return {
    async rent({ name, project, node, sweep, rental, moves = 0 }, network) {
      const { spec, price, offer } = project
      if (node && network) {
        const { name: overlay, cluster, offers } = network
        const { search } = await searchMarket(context, rentals, spec)
        const first = offers[node.rank]
        const { limits } = project
        const request = projectRequest(spec, `${name} ${node.rank}`, { limits, price: first?.price })
        await rentals.start(
          {
            search: { ...search, query: { ...search.query, extra: { cluster_id: { eq: cluster } } } },
            request: { ...request, overlay: { name: overlay, cluster } },
            retries: retryBudget(spec, first?.price, limits),
            first: first?.id,
            why: 'run',
            group: node.of,
            by: project.by,
          },
          rental,
        )
        return
      }
      const { search, volume } = await searchMarket(context, rentals, spec)
      const request = projectRequest(spec, name, { ...project, volume })
      // A machine that it left was not worth keeping, so the best one follows.
      const first = moves === 0 ? offer : undefined
      const retries = retryBudget(spec, price, project.limits)
      await rentals.start(
        { search, request, retries, first, why: 'run', group: sweep?.id, by: project.by },
        rental,
      )
    },
    async seek({ project: { spec } }) {
      const { fits, cheapest } = await seekOffer(context, rentals, spec)
      return { fits, cheapest: fits ? undefined : cheapest?.price }
    },
    chooseCluster: ({ project: { spec, price } }, refused) =>
      chooseCluster(context, rentals, spec, { refused, price }),
    async environmentOf({ project }) {
      const values: Record<string, string> = {}
      for (const [name, value] of Object.entries(project.spec.env ?? {}))
        values[name] = typeof value === 'object' ? await secretOf(value) : String(value)
      return values
    },
    async storeFor({ project: { spec } }) {
      const store = storeOf(spec)
      if (!store) return undefined
      const key = store.key && (await secretOf(store.key))
      const isOverSsh = store.to.startsWith('sftp:')
      return {
        every: store.every,
        repository: store.to,
        paths: store.paths === undefined ? resultsOf(spec) : [store.paths].flat(),
        password: await secretOf(store.password),
        ...(key !== undefined &&
          (isOverSsh
            ? { key: keyLines(key), hostKey: store.host_key }
            : { variables: keyVariables(store.to, key) })),
      }
    },
    commitOf: folder => commitOf(context.platform.syncedFolders, folder),
    async copyFromClouds({ name, project: { id: project, spec }, instance, createdAt }, folder, signal) {
      if (instance === undefined) return
      const copies = await copiesFrom(context, spec, { instance, folder })
      await copyAll(transfers, keyed(project, copies), createdAt, signal, name)
    },
    async copyToCloud({ id, name, project: { id: project, spec }, instance, createdAt }, folder, signal) {
      if (instance === undefined) return
      const copies = await copiesTo(context, spec, { instance, folder }, id)
      await copyAll(transfers, keyed(project, copies), createdAt, signal, name)
    },
  }
}

function alreadyDaily(name: string, start: string): Problem {
  return {
    code: 'already_daily',
    message: `${name} already begins at ${start.split(' ').at(-1)} every day.`,
    advice: `Cancel that run first (berth stop ${name}), or choose another time.`,
  }
}

function tooManyRuns(count: number) {
  return {
    code: 'too_many_runs',
    message: `That’s ${count} runs; a sweep has at most ${mostRuns}.`,
    advice: 'Choose fewer values, or fewer runs of each.',
  }
}
/** Throws `bad_nodes` for a spec that cannot run on several machines, as after a change to it. */
function refuseNodes(spec: ProjectSpec): void {
  const problem = nodesProblem(spec)
  if (problem === undefined) return
  throw new BerthError({
    code: 'bad_nodes',
    message: `It can’t run on ${nodeCount(spec)} machines: ${problem}.`,
  })
}

/** Throws `notice_too_long` where what happens before a stop leaves the run too little of its limits. */
function refuseNotice(spec: ProjectSpec, limits: readonly Limit[], price: number | undefined): void {
  const problem = noticeProblem(limits, spec.before_stop, dearestOf(spec, price))
  if (problem === undefined) return
  throw new BerthError({
    code: 'notice_too_long',
    message: `${problem}.`,
    advice: 'Choose a shorter at_most, or higher limits.',
  })
}

function notAllowed(borrowed: readonly Borrowed[]): Problem {
  return {
    code: 'not_allowed',
    message: `Nothing was rented. ${borrowed.map(borrowedQuestion).join(' ')}`,
    advice: 'Look at the plan, and allow it there.',
  }
}

const noProject = { code: 'no_such_run', message: 'That run has no project.' }
function secretMissing(name: string) {
  return {
    code: 'secret_missing',
    message: `The secret ${name} has no value.`,
    advice: 'Enter it in Projects, then resume.',
  }
}
