import * as v from 'valibot'

/** Dollars. */
const Dollars = v.number()
/** ISO 8601, in the service's time. */
const Time = v.pipe(v.string(), v.isoTimestamp())
const Text = v.string()
const Seconds = v.number()
const Count = v.pipe(v.number(), v.integer())
const Id = v.number()
const Gpu = v.strictObject({ name: v.nullable(Text), count: v.nullable(Count) })

const Account = v.strictObject({
  id: Text,
  name: Text,
  demo: v.boolean(),
  connection: Text,
  credit: v.nullable(Dollars),
  spendPerHour: Dollars,
  /** Includes booting instances. */
  spendOnceReady: Dollars,
})

const waitingFields = {
  for: Text,
  since: Time,
  lastError: v.nullable(v.strictObject({ code: Text, message: Text })),
  nextTry: v.nullable(Time),
  givesUp: v.nullable(Time),
}
export const WaitingJson = v.strictObject(waitingFields)

const Instance = v.strictObject({
  account: Text,
  id: Id,
  label: v.nullable(Text),
  state: Text,
  gpu: v.nullable(Gpu),
  gpuLoad: v.nullable(v.number()),
  interruptible: v.boolean(),
  bid: v.nullable(Dollars),
  ending: v.nullable(
    v.strictObject({
      action: v.picklist(['stop', 'destroy']),
      phase: v.picklist(['requested', 'retrying', 'urgent']),
      since: Time,
      requests: Count,
      problem: v.nullable(Text),
    }),
  ),
  stops: v.array(v.strictObject({ action: v.picklist(['stop', 'destroy']), at: Time })),
  costPerHour: v.nullable(Dollars),
  pricePerHour: v.nullable(Dollars),
  spent: v.nullable(Dollars),
  runningSince: v.nullable(Time),
  image: v.nullable(Text),
  location: v.nullable(Text),
  sharedHostKey: v.boolean(),
})

const WaitingRun = v.strictObject({
  account: Text,
  run: Text,
  name: Text,
  step: Text,
  instance: v.nullable(Id),
  ...waitingFields,
})

const problem = v.nullable(v.object({ code: Text, message: Text, advice: v.optional(Text) }))
const sweepCounts = { runs: Count, done: Count, failed: Count, going: Count }

const Sweep = v.strictObject({
  account: Text,
  id: Text,
  name: Text,
  step: Text,
  ...sweepCounts,
  cost: Dollars,
  costsAtMost: v.nullable(Dollars),
  results: Text,
  waiting: v.nullable(WaitingJson),
})

const Run = v.strictObject({
  account: Text,
  job: Text,
  sweep: v.nullable(Text),
  run: v.nullable(Count),
  setting: v.record(Text, Text),
  name: Text,
  step: Text,
  exitCode: v.nullable(Count),
  problem,
  retries: Count,
  moves: Count,
  trainingLost: Seconds,
  trainingLostCost: Dollars,
  instance: v.nullable(Id),
  cost: Dollars,
  printed: v.record(Text, v.union([v.number(), v.picklist(['nan', 'inf', '-inf'])])),
  asked: Time,
  ended: v.nullable(Time),
  waiting: v.nullable(WaitingJson),
})

/** A plan, printed by `run` without `--yes`. */
const Plan = v.strictObject({
  project: v.nullable(Text),
  command: Text,
  engine: v.nullable(Text),
  nodeCommand: v.nullable(Text),
  setup: v.nullable(Text),
  setupReads: v.nullable(v.array(Text)),
  image: v.nullable(Text),
  template: v.nullable(Text),
  ports: v.array(v.union([Count, Text])),
  env: v.record(Text, v.union([Text, v.strictObject({ secret: Text })])),
  from: v.array(v.strictObject({ cloud: Text, to: Text })),
  to: v.nullable(Text),
  key: v.nullable(v.picklist(['account', 'copy'])),
  gpu: v.nullable(Gpu),
  offer: v.nullable(Id),
  offers: v.array(
    v.strictObject({ id: Id, gpu: Gpu, pricePerHour: Dollars, reliability: v.nullable(v.number()) }),
  ),
  pricePerHour: v.nullable(Dollars),
  sweep: v.nullable(
    v.strictObject({
      settings: v.array(v.record(Text, Text)),
      atOnce: Count,
      waiting: v.array(Id),
      machines: v.array(v.strictObject({ offer: Id, pricePerHour: Dollars })),
    }),
  ),
  nodes: v.nullable(v.array(v.strictObject({ offer: Id, pricePerHour: Dollars }))),
  waiting: v.nullable(Id),
  interruptible: v.boolean(),
  checkpoint: v.nullable(Seconds),
  store: v.nullable(Text),
  movesAtMost: Count,
  beforeStop: v.nullable(v.strictObject({ signal: Text, run: v.nullable(Text), atMost: Seconds })),
  retry: v.nullable(
    v.strictObject({
      times: Count,
      on: v.array(v.union([Count, v.literal('error')])),
      elsewhere: v.boolean(),
    }),
  ),
  start: v.nullable(Text),
  wait: Seconds,
  cheapestAbove: v.nullable(Dollars),
  unused: v.array(Text),
  keptFor: Seconds,
  volume: v.nullable(
    v.strictObject({
      name: Text,
      at: Text,
      id: v.nullable(Id),
      machine: v.nullable(Id),
      size: v.nullable(v.number()),
      pricePerHour: v.nullable(Dollars),
    }),
  ),
  costsAtMost: v.nullable(Dollars),
  beyondCredit: v.nullable(Text),
  lastsAtMost: v.nullable(Seconds),
  trafficPricePerGb: v.nullable(Dollars),
  diskPricePerHour: v.nullable(Dollars),
  failedKeptFor: Seconds,
  failedDestroyed: v.boolean(),
  files: Count,
  bytes: Count,
  notSent: v.array(Text),
  missingSecrets: v.array(Text),
  asks: v.array(v.strictObject({ allow: Text, usedBy: v.array(Text) })),
})

export type PlanJson = v.InferOutput<typeof Plan>
export type RunJson = v.InferOutput<typeof Run>
export type InstanceJson = v.InferOutput<typeof Instance>

const Output = v.strictObject({ output: Text })
const Project = v.strictObject({
  id: Text,
  name: Text,
  folder: Text,
  usable: v.boolean(),
  problems: v.array(v.unknown()),
  problem: v.nullable(Text),
})

const Acted = v.strictObject({
  instances: v.array(v.strictObject({ account: Text, id: Id })),
  failed: v.optional(v.array(v.strictObject({ operand: Text, code: Text, message: Text }))),
})

const Offer = v.strictObject({
  offer: Id,
  gpu: v.strictObject({ name: v.nullable(Text), count: v.nullable(Count) }),
  pricePerHour: v.nullable(Dollars),
  reliability: v.nullable(v.number()),
  location: v.nullable(Text),
})

/** One text of JSON that a subcommand prints. */
interface Answer {
  /** With which options or operands; absent where it is always this one. */
  when?: string
  /** It is a line, and there may be several. */
  isLine?: true
  schema: v.GenericSchema
}

/** What each subcommand prints with `--json`. Scripts rely on these fields: they are added, never renamed. */
export const cliAnswers: Readonly<Record<string, readonly Answer[]>> = {
  ps: [
    {
      schema: v.strictObject({
        accounts: v.array(Account),
        instances: v.array(Instance),
        waiting: v.array(WaitingRun),
      }),
    },
    { when: '--project', schema: v.strictObject({ sweeps: v.array(Sweep), runs: v.array(Run) }) },
  ],
  search: [{ schema: v.strictObject({ account: Text, found: Count, offers: v.array(Offer) }) }],
  rent: [
    {
      when: 'without --yes',
      schema: v.strictObject({
        account: Text,
        offer: Id,
        gpu: Offer.entries.gpu,
        pricePerHour: v.nullable(Dollars),
        disk: v.number(),
        image: Text,
        lastsAtMost: v.nullable(Seconds),
        costsAtMost: v.nullable(Dollars),
        trafficPricePerGb: v.nullable(Dollars),
      }),
    },
    {
      when: '--yes',
      schema: v.strictObject({ account: Text, rental: Text, step: Text, instance: v.nullable(Id) }),
    },
  ],
  limit: [
    {
      schema: v.strictObject({
        account: Text,
        instance: Id,
        limits: v.array(
          v.strictObject({
            id: Text,
            action: v.picklist(['stop', 'destroy']),
            sentence: Text,
            at: v.nullable(Time),
            watched: v.boolean(),
          }),
        ),
      }),
    },
  ],
  report: [{ schema: v.strictObject({ account: Text, instance: Id, reported: Text }) }],
  env: [{ schema: v.strictObject({ account: Text, variables: v.array(v.strictObject({ name: Text })) }) }],
  ssh: [{ schema: v.strictObject({ arguments: v.array(Text) }) }],
  start: [{ schema: Acted }],
  stop: [
    { schema: Acted },
    {
      when: 'PROJECT',
      schema: v.strictObject({
        project: Text,
        sweeps: v.array(Text),
        jobs: v.array(Text),
        waiting: v.array(Id),
      }),
    },
  ],
  destroy: [{ schema: Acted }],
  run: [
    { when: 'without --yes: the plan', schema: Plan },
    { when: '--yes', schema: v.strictObject({ project: Text, job: Text }) },
    { when: '--yes, for a sweep', schema: v.strictObject({ project: Text, sweep: Text }) },
    { when: '--yes --follow: output', isLine: true, schema: Output },
    {
      when: '--yes --follow: what it waits for, every 15 s',
      isLine: true,
      schema: v.strictObject({ job: Text, step: Text, waiting: WaitingJson }),
    },
    {
      when: '--yes --follow: what a sweep’s next run waits for, every 15 s',
      isLine: true,
      schema: v.strictObject({ sweep: Text, step: Text, waiting: WaitingJson }),
    },
    {
      when: '--yes --follow: its end',
      isLine: true,
      schema: v.strictObject({
        job: Text,
        step: Text,
        exitCode: v.nullable(Count),
        problem,
        cost: Dollars,
        brought: Count,
        moves: Count,
        trainingLost: Seconds,
      }),
    },
    {
      when: '--yes --follow: the end of a sweep',
      isLine: true,
      schema: v.strictObject({ sweep: Text, step: Text, ...sweepCounts, cost: Dollars }),
    },
  ],
  move: [{ schema: v.strictObject({ account: Text, job: Text, from: v.nullable(Id) }) }],
  project: [
    { when: 'ls', schema: v.strictObject({ projects: v.array(Project) }) },
    { when: 'add', schema: v.strictObject({ project: Project }) },
  ],
  logs: [
    {
      when: 'of a run',
      schema: v.strictObject({
        run: Text,
        step: v.nullable(Text),
        exitCode: v.nullable(Count),
        output: Text,
      }),
    },
    { when: 'of an instance', schema: v.strictObject({ instance: Id, output: Text }) },
    { when: '--follow', isLine: true, schema: Output },
  ],
  spend: [
    {
      schema: v.strictObject({
        accounts: v.array(
          v.strictObject({
            ...Account.entries,
            creditLastsHours: v.nullable(v.number()),
            today: Dollars,
            last7Days: Dollars,
            thisMonth: Dollars,
            days: v.array(
              v.strictObject({ day: Text, spent: Dollars, toppedUp: Dollars, estimated: v.boolean() }),
            ),
          }),
        ),
      }),
    },
  ],
  doctor: [
    {
      schema: v.strictObject({
        checks: v.array(
          v.strictObject({
            name: Text,
            ok: v.boolean(),
            needed: v.boolean(),
            message: Text,
            advice: v.nullable(Text),
          }),
        ),
      }),
    },
  ],
  mcp: [],
  open: [
    { schema: v.strictObject({ opened: v.boolean() }) },
    {
      when: 'INSTANCE APP',
      schema: v.strictObject({ account: Text, instance: Id, app: Text, opened: v.boolean() }),
    },
  ],
  quit: [],
}

/** On stderr in place of an answer. */
export const CliError = v.strictObject({
  error: v.strictObject({
    code: Text,
    message: Text,
    advice: v.optional(Text),
    /** Of a cap: the limit, and what is left of it in dollars or machines. */
    refusal: v.optional(
      v.strictObject({
        limit: v.picklist(['permission', 'day', 'hour', 'machines', 'price', 'volume', 'ownership']),
        name: Text,
        cap: v.nullable(v.number()),
        used: v.nullable(v.number()),
        left: v.nullable(v.number()),
        retry: v.picklist(['never', 'after_an_end', 'tomorrow']),
      }),
    ),
  }),
})
