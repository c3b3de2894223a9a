import { named } from '#shared/format/name.ts'
import { harmlessInFull } from '#shared/instance/file-names.ts'
import { linkedRulesWords, secretWords, skipWords } from '#shared/instance/sync.ts'
import { accountNow } from '../shared/derived.ts'
import { commandLines } from '../shared/format/commands.ts'
import { money, rate } from '../shared/format/money.ts'
import { gpuWords } from '../shared/format/name.ts'
import { counted, reliability } from '../shared/format/size.ts'
import { duration } from '../shared/format/time.ts'
import { bidPlanWords, planAfterwards, unusedWords, waitWords } from '../shared/project/afterwards.ts'
import { type BeforeStop, noticeOf } from '../shared/project/before-stop.ts'
import { borrowedQuestion, cloudUses, usesMade } from '../shared/project/borrowed.ts'
import { cloudCopiesOf, setupOf } from '../shared/project/bounds.ts'
import {
  cloudWords,
  demoRunsWords,
  environmentOf,
  firstFailureWords,
  resultsStayWords,
  setupAgainWords,
  setupWords,
  volumeWords,
} from '../shared/project/handed-over.ts'
import { engineOf, nodeCommand } from '../shared/project/nodes.ts'
import {
  agreedCosts,
  type PlanCosts,
  planCosts,
  trafficInPlan,
  volumePrice,
} from '../shared/project/plan-costs.ts'
import { type ProjectPlan, waitingForPlanWords } from '../shared/project/project.ts'
import { retriedCodes } from '../shared/project/retry.ts'
import { checkpointEvery, storeOf } from '../shared/project/store.ts'
import { settingWords } from '../shared/project/sweep.ts'
import { runDangers } from '../shared/run-dangers.ts'
import type { PlanJson } from './answers.ts'
import { accountsOf, type Call, type CliCommand, cliDollars, polledState, print } from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import { followRun, followSweep } from './follow.ts'
import { withProject } from './project.ts'

export const run: CliCommand = {
  operands: '[PROJECT|DIR]',
  takes: [0, 1],
  summary: 'Run a project or this folder on a rented machine; without --yes, only print the plan',
  options: [
    'account',
    'json',
    'yes',
    'follow',
    'offer',
    'secret-files',
    'allow',
    'set',
    'runs',
    'at-once',
    'keep',
    'start',
    'wait',
    'nodes',
  ],
  async run(call) {
    const [word = '.'] = call.operands
    const account = await accountOf(call)
    const { project, plan, id } = await withProject(call, word, (project, isNew) =>
      begin(call, account, { project, isNew }),
    )
    if (call.follow) {
      sayAtInterrupt(call, (await call.connection.state()).projects[project]?.name ?? word)
      return plan.sweep ? followSweep(call, account, id) : followRun(call, account, id)
    }
    if (call.json) print(call, plan.sweep ? { project, sweep: id } : { project, job: id })
    else call.write(`${id}\n`)
    return undefined
  },
}

/** Ctrl+C ends this command and not what it follows. */
function sayAtInterrupt({ say }: Call, project: string): void {
  process.once('SIGINT', () => {
    say(`${project} goes on and costs money, until it has ended or you stop it with berth stop.`)
    process.kill(process.pid, 'SIGINT')
  })
}

/** Shows the plan and starts the run. Throws where it may not start. */
async function begin(call: Call, account: string, { project, isNew }: { project: string; isNew: boolean }) {
  const { offer, change } = call
  const plan = await call.connection.command('planProject', { account, project, offer, change })
  const { content, limits, pricePerHour: price, scan } = plan
  const secretFiles = call.secretFiles === 'send' ? scan.secrets.map(({ path }) => path) : []
  const costs = planCosts(plan, { limits, offer })
  const beyond = await beyondCreditOf(call, account, costs)
  if (!call.json) call.say(planWords(plan, costs, secretFiles, account === 'demo', beyond))
  else if (!call.yes) print(call, planJson(isNew ? null : project, plan, costs, secretFiles, beyond))
  refuse(call, plan, beyond)
  const allow = [...usesMade(plan), ...call.allow.filter(use => use !== beyondCreditUse)]
  const terms = { account, project, offer, change, content, limits, price, secretFiles, allow }
  const request = { ...terms, ...agreedCosts(costs) }
  return { project, plan, id: await call.connection.command('runProject', request) }
}

/** What `--allow` is given where the credit doesn't pay for a run. */
const beyondCreditUse = 'credit'

/** That the account's credit doesn't pay for a run, in a sentence or two; undefined where it does. */
export async function beyondCreditOf(
  { connection }: Call,
  account: string,
  costs: PlanCosts | undefined,
): Promise<string | undefined> {
  const view = (await connection.state()).accounts[account]
  if (!view || !costs) return undefined
  return runDangers.startRun.question(view, costs, accountNow(view.clock, Date.now()))?.lines.join(' ')
}

/** The account of `--account`, else the one that Berth shows. */
async function accountOf(call: Call): Promise<string> {
  const state = await polledState(call)
  if (call.account === undefined && state.shown !== undefined) return state.shown
  const [account, ...others] = accountsOf(call, state)
  if (account && others.length === 0) return account.id
  throw usageFailure(account ? 'Choose the account that pays with --account.' : 'No account is connected.')
}

/** Throws where the project cannot run, or was not confirmed. */
function refuse({ yes, secretFiles, allow }: Call, plan: ProjectPlan, beyond: string | undefined): void {
  const { offer, problem, missingSecrets, scan } = plan
  const isWaitedFor = plan.waiting !== undefined || (plan.sweep?.waiting ?? []).length > 0
  const fail = (exitCode: number, code: string, message: string, advice: string) => {
    throw new CliFailure(exitCode, { code, message, advice })
  }
  const { failed, refused } = exitCodes
  if (missingSecrets.length > 0)
    fail(
      failed,
      'missing_secrets',
      `These secrets have no value: ${missingSecrets.join(', ')}.`,
      'Enter them in Berth, with Run…: berth project add DIR, then berth open',
    )
  if (problem && !isWaitedFor) throw new CliFailure(failed, problem)
  if (!offer && !isWaitedFor && plan.spec.wait === undefined)
    fail(
      failed,
      'no_offer',
      'No offer matches right now.',
      'Loosen the requirements in berth.yaml. By default a machine is verified and at least 98% reliable.',
    )
  const unanswered = scan.secrets.length > 0 && secretFiles === undefined
  const asked = plan.borrowed.filter(({ use }) => !allow.includes(use))
  const isBeyond = beyond !== undefined && !allow.includes(beyondCreditUse)
  if (!yes) {
    const answers = [
      ...asked.map(({ use }) => `--allow ${use}`),
      ...(isBeyond ? [`--allow ${beyondCreditUse}`] : []),
      ...(unanswered ? ['--secret-files send or --secret-files skip'] : []),
    ]
    const also = answers.length === 0 ? '' : `, and with ${answers.join(' and ')}`
    fail(refused, 'needs_yes', 'Dry run: nothing was rented.', `Add --yes to run it${also}.`)
  }
  if (unanswered)
    fail(
      refused,
      'secret_files',
      `Nothing was rented: ${named(scan.secrets.map(secretWords))} may contain secrets.`,
      'Choose --secret-files send or --secret-files skip.',
    )
  if (asked.length > 0)
    fail(
      refused,
      'not_allowed',
      `Nothing was rented. ${asked.map(borrowedQuestion).join(' ')}`,
      `Allow it for this project with ${asked.map(({ use }) => `--allow ${use}`).join(' ')}.`,
    )
  if (isBeyond)
    fail(
      refused,
      'beyond_credit',
      `Nothing was rented. ${beyond}`,
      `Add credit, or run it all the same with --allow ${beyondCreditUse}.`,
    )
}

/** Each machine of a cluster with its own price, equal ones in one line. */
function nodesWords(nodes: NonNullable<ProjectPlan['nodes']>): string[] {
  const words = nodes.map(({ offer, price }) => `${gpuWords(offer)}, ${rate(price)}`)
  return [
    `${nodes.length} machines of one cluster, all or none:`,
    ...[...new Set(words)].map(line => `  ${words.filter(other => other === line).length} with ${line}`),
  ]
}

/** Commands as the page shows them too: what hides is escaped, and gaps are counted. */
const indented = (text: string) =>
  commandLines(text).map(({ text, blank }) =>
    `  ${blank === undefined ? text.replaceAll('\t', '    ') : `(${counted(blank, 'blank line')})`}`.trimEnd(),
  )

/** The command, on several machines as each of them runs it. */
function commandWords(spec: ProjectPlan['spec'], isOnNodes: boolean): string[] {
  if (!isOnNodes) return ['Command:', ...indented(spec.run)]
  const { on, text } = nodeCommand(spec)
  return [`${on}:`, ...indented(text)]
}

/** The plan in words, shown before anything costs. */
function planWords(
  { spec, offer, offers, pricePerHour, keeping, scan, volume, sweep, nodes, waiting, ...plan }: ProjectPlan,
  costs: PlanCosts | undefined,
  secretFiles: readonly string[],
  demo: boolean,
  beyond: string | undefined,
): string {
  const { most, longest, why }: Partial<PlanCosts> = costs ?? {}
  const atMost = most === undefined ? 'No cost limit.' : `It costs at most ${money(most)}: ${why}.`
  const latest =
    longest === undefined ? 'No time limit.' : `It’s stopped after ${duration(longest)} at the latest.`
  const setup = setupOf(spec)
  const env = environmentOf(spec).map(
    ({ name, value, secret }) => `  ${name}=${secret ? `(the secret ${value})` : value}`,
  )
  return (
    [
      ...(sweep ? sweepWords(sweep) : []),
      ...(nodes ? nodesWords(nodes) : []),
      ...(waiting
        ? [`#${waiting.instance} is waiting for it at ${rate(waiting.pricePerHour)}; otherwise Berth rents:`]
        : []),
      ...(nodes
        ? [`Together ${rate(nodes.reduce((sum, { price }) => sum + price, 0))}.`]
        : [
            offer
              ? `${gpuWords(offer)}${pricePerHour === undefined ? '' : `, ${rate(pricePerHour)}`}`
              : 'No machine',
          ]),
      ...bidPlanWords(spec, pricePerHour),
      ...waitWords({ spec, offer, ...plan }),
      // Without a machine nothing is known of its price.
      ...(costs ? [atMost, latest, ...[trafficInPlan(costs) ?? []].flat()] : []),
      ...(beyond === undefined ? [] : [beyond]),
      `Set up with ${setupWords(spec)}.`,
      ...volumeWords({ volume, offer, spec }),
      ...cloudWords({ spec, ...plan }),
      ...plan.borrowed.map(borrowedQuestion),
      `${counted(scan.files, 'file')} would be sent${
        scan.secrets.length > 0
          ? `, and ${secretFiles.length > 0 ? '' : 'not '}${named(scan.secrets.map(secretWords))}, which may contain secrets`
          : ''
      }.`,
      ...resultsStayWords(scan.results, spec),
      ...(scan.skipped.length === 0
        ? []
        : ['Not sent:', ...scan.skipped.map(({ path, why }) => `  ${path} (${skipWords[why]})`)]),
      ...(scan.linkedRules.length === 0 ? [] : [linkedRulesWords(scan.linkedRules)]),
      ...(setup === undefined ? [] : ['Set-up:', ...indented(setup.run), ...setupAgainWords(spec)]),
      ...commandWords(spec, nodes !== undefined),
      firstFailureWords,
      ...(demo ? [demoRunsWords] : []),
      ...(env.length === 0 ? [] : ['Environment:', ...env]),
      ...planAfterwards(spec, keeping, costs),
      ...unusedWords(spec),
      ...(offers.length < 2
        ? []
        : [
            'Other matches, for --offer:',
            ...offers.filter(one => one.offer.id !== offer?.id).map(offerWords),
          ]),
    ]
      // A stranger's values and file names begin no line of their own.
      .map(harmlessInFull)
      .join('\n')
  )
}

/** The runs of a sweep, and the machines that would be rented now. */
function sweepWords({ settings, atOnce, waiting, machines }: NonNullable<ProjectPlan['sweep']>): string[] {
  const shown = settings
    .slice(0, 20)
    .map((setting, index) => `  ${index + 1}  ${settingWords(setting)}`.trimEnd())
  const prices = [...waiting.map(one => one.pricePerHour), ...machines.map(one => one.price)]
  const sum = prices.reduce((total, price) => total + price, 0)
  const first = waitingForPlanWords(waiting)
  return [
    `${counted(settings.length, 'run')}, at most ${atOnce} at once. ${counted(
      prices.length,
      'machine',
    )}, ${rate(sum)} together; the limits apply to all of them:`,
    ...(first === undefined ? [] : [first]),
    ...shown,
    ...(settings.length > shown.length ? [`  and ${settings.length - shown.length} more`] : []),
  ]
}

/** `31290  RTX 4090, $0.431/h, 99.6% reliable` */
function offerWords({ offer, price }: ProjectPlan['offers'][number]): string {
  const { id, reliability: share } = offer
  return `  ${id}  ${gpuWords(offer)}, ${rate(price)}${share === undefined ? '' : `, ${reliability(share)} reliable`}`
}

/** Scripts rely on these fields: they are added, never renamed. In dollars and seconds. */
export function planJson(
  project: string | null,
  { spec, offer, offers, pricePerHour, keeping, ...plan }: ProjectPlan,
  costs: PlanCosts | undefined,
  secretFiles: readonly string[],
  beyond: string | undefined,
): PlanJson {
  return {
    project,
    command: spec.run,
    engine: plan.nodes ? engineOf(spec) : null,
    nodeCommand: plan.nodes ? nodeCommand(spec).text : null,
    setup: setupOf(spec)?.run ?? null,
    setupReads: setupOf(spec)?.reads ?? null,
    image: spec.image ?? null,
    template: spec.template ?? null,
    ports: spec.ports ?? [],
    env: spec.env ?? {},
    from: cloudCopiesOf(spec).map(({ address, to }) => ({ cloud: address, to })),
    to: spec.to ?? null,
    key: cloudUses(spec).length === 0 ? null : plan.wideKey ? 'account' : 'copy',
    gpu: offer ? { name: offer.gpuName ?? null, count: offer.gpuCount ?? null } : null,
    offer: offer?.id ?? null,
    offers: offers.map(one => ({
      id: one.offer.id,
      gpu: { name: one.offer.gpuName ?? null, count: one.offer.gpuCount ?? null },
      pricePerHour: cliDollars(one.price),
      reliability: one.offer.reliability ?? null,
    })),
    pricePerHour: pricePerHour === undefined ? null : cliDollars(pricePerHour),
    sweep: plan.sweep
      ? {
          settings: [...plan.sweep.settings],
          atOnce: plan.sweep.atOnce,
          waiting: plan.sweep.waiting.map(({ instance }) => instance),
          machines: plan.sweep.machines.map(one => ({
            offer: one.offer.id,
            pricePerHour: cliDollars(one.price),
          })),
        }
      : null,
    nodes: plan.nodes
      ? plan.nodes.map(one => ({ offer: one.offer.id, pricePerHour: cliDollars(one.price) }))
      : null,
    waiting: plan.waiting?.instance ?? null,
    interruptible: spec.machine?.interruptible ?? false,
    checkpoint: checkpointEvery(spec) ?? null,
    store: storeOf(spec)?.to ?? null,
    movesAtMost: spec.outbid?.elsewhere ?? 0,
    beforeStop: spec.before_stop ? beforeStopJson(spec.before_stop) : null,
    retry: spec.retry
      ? {
          times: spec.retry.times,
          on: retriedCodes(spec.retry),
          elsewhere: spec.retry.elsewhere ?? false,
        }
      : null,
    start: spec.start ?? null,
    wait: spec.wait ?? 0,
    cheapestAbove: plan.above ? cliDollars(plan.above.price) : null,
    unused: unusedWords(spec),
    keptFor: spec.keep ?? 0,
    volume: plan.volume ? volumeJson(plan.volume, offer) : null,
    costsAtMost: costs?.most === undefined ? null : cliDollars(costs.most),
    lastsAtMost: costs?.longest ?? null,
    trafficPricePerGb: costs?.traffic ?? null,
    beyondCredit: beyond ?? null,
    diskPricePerHour: costs?.disk === undefined ? null : cliDollars(costs.disk),
    failedKeptFor: keeping.seconds,
    failedDestroyed: keeping.destroys,
    files: plan.scan.files,
    bytes: plan.scan.bytes,
    notSent: plan.scan.secrets.map(({ path }) => path).filter(path => !secretFiles.includes(path)),
    missingSecrets: [...plan.missingSecrets],
    asks: plan.borrowed.map(({ use, of }) => ({ allow: use, usedBy: [...of] })),
  }
}

function beforeStopJson(before: BeforeStop) {
  const { signal, run, seconds } = noticeOf(before)
  return { signal, run: run ?? null, atMost: seconds }
}

function volumeJson(volume: NonNullable<ProjectPlan['volume']>, offer: ProjectPlan['offer']) {
  const { name, at, id, machineId, size } = volume
  const price = volumePrice(volume, offer)
  return {
    name,
    at,
    id: id ?? null,
    machine: machineId ?? null,
    size: size ?? null,
    pricePerHour: price === undefined ? null : cliDollars(price),
  }
}
