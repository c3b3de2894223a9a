import * as v from 'valibot'
import { breaksSsh, harmless } from '../instance/file-names.ts'
import { DiskSize, EnvName, ImageName, MountPath, PortRequest, VolumeName } from '../market/rent-request.ts'
import { FirstBid, PricePerHour } from '../market/rental-bounds.ts'
import { BeforeStop, beforeStopDraft } from './before-stop.ts'
import { cacheProblem } from './cache.ts'
import { Engine, nodesProblem } from './nodes.ts'
import { Retry } from './retry.ts'
import { amount, oneOrMore, textUpTo, whole } from './spec-parts.ts'
import { StartTime } from './start-time.ts'
import { HostKey, StorePlace } from './store-place.ts'
import { VariableName, VariableText } from './variables.ts'

/** The name of a secret of the user's, whose value is in the keychain. */
export const SecretName = v.pipe(EnvName, v.maxLength(64, 'at most 64 characters'))

/** A project's name on screens and for the command, which must not look like a path or like another name. */
const ProjectName = v.pipe(
  textUpTo(64),
  v.check(name => !/[/\\]/.test(name), 'a name has no / or \\'),
  v.check(name => !/^[.\s]+$/.test(name), 'a name is more than dots'),
  v.check(name => harmless(name) === name, 'a name has no invisible characters'),
)

const insideForm = 'enter a path below the project, such as out/models'

/** A path below the project's folder. */
const Inside = v.pipe(
  textUpTo(1024),
  v.check(path => !/[\0\\]/.test(path) && !path.startsWith('/'), insideForm),
  v.transform(path => path.replace(/(?<!\/)\/+$/, '')),
  v.check(
    path => path !== '' && path.split('/').every(name => name !== '' && name !== '.' && name !== '..'),
    insideForm,
  ),
)

const timeForm = 'must be a time such as 30m or 2h, at least a minute'

/** `30m`, `2h`, `1h30m`: in seconds, at least a minute. */
const Time = v.pipe(
  v.string(timeForm),
  v.regex(/^(?:\d{1,4}h)?(?:\d{1,4}m)?$/, timeForm),
  v.transform(secondsOf),
  v.minValue(60, 'at least a minute'),
  v.maxValue(366 * 86_400, 'at most a year'),
)

function secondsOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.includes('h') ? time.split('h') : ['0', time]
  return Number(hours) * 3600 + Number(minutes.replace('m', '') || '0') * 60
}

/** Seconds in the notation of `berth.yaml`, rounded to minutes. */
export function timeText(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return `${hours > 0 ? `${hours}h` : ''}${rest > 0 || hours === 0 ? `${rest}m` : ''}`
}

const checkpointForm =
  'must be a time such as 10m, at least a minute, or {every, to, password} such as {every: 5m, to: sftp://…}'

const Secret = v.strictObject({ secret: SecretName })

/** Results that the machine stores with restic: how often, which paths, where, the password, and the key for that place. */
const StoredCheckpoint = v.strictObject({
  every: Time,
  paths: v.optional(oneOrMore(Inside, 100, insideForm)),
  to: StorePlace,
  password: Secret,
  key: v.optional(Secret),
  /** The public key of an SFTP server, which a machine trusts at first sight otherwise. */
  host_key: v.optional(HostKey),
})

const cacheForm = 'enter a folder on the machine, such as ~/.cache/huggingface'

/** A folder on the machine outside the project: below the home folder, or at least two folders deep. */
const CachePath = v.pipe(
  textUpTo(1024),
  v.regex(/^(?:~|\/[^/\0\\]+)(?:\/[^/\0\\]+)+$/, cacheForm),
  v.check(
    path => !path.split('/').some(name => name === '.' || name === '..') && !breaksSsh(path),
    cacheForm,
  ),
)

const cloudForm = 'enter a place in a cloud such as s3://bucket/folder'

/** A place in a cloud of the user's; with the id of a cloud connection, `s3.101://bucket/folder`. */
const CloudAddress = v.pipe(
  textUpTo(1024),
  v.regex(/^(?:s3|b2|drive|dropbox|hf)(?:\.[A-Za-z0-9_-]{1,64})?:\/\/[^/\s]\S*$/, cloudForm),
)

/** Where files from a cloud go: below the project's folder, or on the machine where they can't break its SSH. */
const CloudTarget = v.pipe(
  textUpTo(1024),
  v.check(
    path =>
      !/[\0\\]/.test(path) &&
      !path.split('/').some(name => name === '.' || name === '..') &&
      !breaksSsh(path),
    'enter a folder below the project, or one such as /data/images',
  ),
)

const volumeForm = 'enter a volume such as datasets:/data, or {name, at, size}'

/** A volume of the service by its name or number, where it is mounted, and the GB of one to create where there is none. */
const Volume = v.union(
  [
    v.pipe(
      v.string(),
      v.regex(/^[^:\s]{1,64}:\/\S{0,1023}$/, volumeForm),
      v.transform((text): { name: string; at: string; size?: number } => {
        const [name = '', at = ''] = text.split(/:(.*)/s)
        return { name, at }
      }),
    ),
    v.strictObject({ name: VolumeName, at: MountPath, size: v.optional(amount(100_000)) }),
  ],
  volumeForm,
)

const portForm = 'enter a port such as 6006 or 8080:80'

const Port = v.union(
  [
    whole(1, 65_535),
    v.pipe(
      v.string(),
      v.regex(/^\d{1,5}:\d{1,5}$/, portForm),
      v.check(port => {
        const [outside, container] = port.split(':').map(Number)
        return v.is(PortRequest, { outside, container, protocol: 'tcp' })
      }, portForm),
    ),
  ],
  portForm,
)

/** The commands that set a machine up, and the files that they read, in the notation of `.gitignore`. */
const Setup = v.union(
  [
    textUpTo(65_536),
    v.strictObject({
      run: textUpTo(65_536),
      reads: v.optional(oneOrMore(textUpTo(1024), 100, 'name a file, or a list of files')),
    }),
  ],
  'must be commands, or {run, reads} such as {run: pip install -r requirements.txt, reads: requirements.txt}',
)

/** A value of a variable. A file's values arrive as the texts that stand in it: `3.10` and `007` stay what they are. */
const variableForms = [
  VariableText,
  v.pipe(v.number(), v.finite(), v.transform(String)),
  v.pipe(v.boolean(), v.transform(String)),
] as const
const SettingValue = v.union(variableForms, 'must be text, a number, true or false')
/** The most runs of a sweep. */
export const mostRuns = 1000

/** The settings of a sweep: the values of each name, of which every combination runs, or a list of settings. */
export const SweepSpec = v.union(
  [
    v.pipe(
      v.record(
        VariableName,
        v.pipe(
          v.array(SettingValue),
          v.minLength(1, 'is empty'),
          v.maxLength(mostRuns, `at most ${mostRuns}`),
        ),
      ),
      v.check(grid => Object.keys(grid).length > 0, 'has no settings'),
      v.check(
        grid => Object.values(grid).reduce((all, values) => all * values.length, 1) <= mostRuns,
        `has more than ${mostRuns} combinations`,
      ),
    ),
    v.pipe(
      v.array(v.record(VariableName, SettingValue)),
      v.minLength(1, 'is empty'),
      v.maxLength(mostRuns, `at most ${mostRuns}`),
    ),
  ],
  'must be lists of values by their names, such as lr: [1e-4, 3e-4], or a list of settings',
)
export type SweepSpec = v.InferOutput<typeof SweepSpec>

/** How many runs, of each setting where there are some; and how many machines run them at once. */
const Runs = whole(1, mostRuns)
const AtOnce = whole(1, 100)

/** How many machines of a cluster run one command together. */
export const NodeCount = whole(1, 32)

const countryForm = 'must be a country such as DE'

const SpecFields = v.strictObject({
  name: v.optional(ProjectName),
  machine: v.optional(
    v.strictObject({
      /** The service's names, or a part of them: `H100` means all of its kinds. */
      gpu: v.optional(oneOrMore(textUpTo(100), 20, 'name a GPU, or a list of GPUs')),
      /** GPUs. */
      count: v.optional(whole(1, 64)),
      /** GB per GPU. */
      vram: v.optional(amount(10_000)),
      /** Dollars per hour, disk included; the highest bid for an interruptible machine. */
      price: v.optional(PricePerHour),
      interruptible: v.optional(v.boolean('must be true or false')),
      /** Two-letter country codes. */
      region: v.optional(
        oneOrMore(v.pipe(v.string(), v.regex(/^[A-Za-z]{2}$/, countryForm)), 50, countryForm),
      ),
      verified: v.optional(v.boolean('must be true or false')),
      /** Percent. */
      reliability: v.optional(amount(100)),
      /** Mb/s. */
      download: v.optional(amount(1_000_000)),
      upload: v.optional(amount(1_000_000)),
      cuda: v.optional(amount(100)),
    }),
  ),
  image: v.optional(ImageName),
  /** The hash of a template of the service. */
  template: v.optional(textUpTo(256, 'choose a template')),
  /** GB. */
  disk: v.optional(DiskSize),
  /** Storage on one machine that outlives its instances: only offers of that machine are rented. */
  volume: v.optional(Volume),
  /** Folders on the machine that are kept for later runs: on the volume. */
  cache: v.optional(oneOrMore(CachePath, 20, cacheForm)),
  /** Copied from a cloud to the machine before the set-up, by the service. */
  from: v.optional(
    oneOrMore(
      v.union([CloudAddress, v.strictObject({ cloud: CloudAddress, to: CloudTarget })], cloudForm),
      20,
      cloudForm,
    ),
  ),
  /** A cloud where the results are copied, too, in a folder named after the run. */
  to: v.optional(CloudAddress),
  ports: v.optional(v.pipe(v.array(Port), v.maxLength(64, 'at most 64'))),
  env: v.optional(
    v.record(
      VariableName,
      v.union(
        [...variableForms, v.strictObject({ secret: SecretName })],
        'must be a value, or {secret: NAME}',
      ),
    ),
  ),
  /** Runs once on each machine, before the command. */
  setup: v.optional(Setup),
  run: textUpTo(65_536, 'enter the command to run'),
  /** When it begins, by this computer's clock: `02:00`, or `daily 02:00`; at once by default. */
  start: v.optional(StartTime),
  /** How long it waits for an offer within its price, in seconds; it fails at once by default. */
  wait: v.optional(Time),
  /** What happens before the machine of the running command is stopped, and how long the stop waits for it. */
  before_stop: v.optional(BeforeStop),
  /** How often the command is tried again if it fails, and after which exit codes. */
  retry: v.optional(Retry),
  /** The paths to download. */
  results: v.optional(oneOrMore(Inside, 100, insideForm)),
  /** How often results are downloaded while it runs, in seconds; or stored by the machine itself, and where. */
  checkpoint: v.optional(v.union([Time, StoredCheckpoint], checkpointForm)),
  stop: v.optional(
    v.strictObject({
      idle: v.optional(Time),
      hours: v.optional(amount(8784)),
      dollars: v.optional(amount(1_000_000)),
    }),
  ),
  /** The action on the machine after the results were downloaded; by default it is destroyed. */
  after: v.optional(v.picklist(['destroy', 'stop'], 'is destroy or stop')),
  /** How long the machine of a failed run is kept, stopped, and what happens then: by default a reminder, after a day. */
  failed: v.optional(
    v.strictObject({
      keep: v.optional(Time),
      afterwards: v.optional(v.picklist(['remind', 'destroy'], 'is remind or destroy')),
    }),
  ),
  /** How often it may move to another machine after it was outbid; never by default. */
  outbid: v.optional(v.strictObject({ elsewhere: whole(0, 20) })),
  /** The command runs once with each setting, as environment variables. */
  sweep: v.optional(SweepSpec),
  runs: v.optional(Runs),
  at_once: v.optional(AtOnce),
  /** How long the machine waits for the project's next run after one that succeeded. */
  keep: v.optional(Time),
  /** The machines of one cluster that run it together, each with the GPUs of `machine`. */
  nodes: v.optional(NodeCount),
  /** What starts the command on all of them; by default torchrun for a Python command, or the command's own launcher. */
  engine: v.optional(Engine),
})

const bidForm = 'the highest bid for an interruptible machine is $128 per hour'

const waitForm = 'needs machine.price, the price per hour that it waits for'

/** The content of `berth.yaml`. A stranger may have written it, so nothing in it happens before the user agrees. */
export const ProjectSpec = v.pipe(
  SpecFields,
  v.forward(
    v.check(
      spec => nodesProblem(spec) === undefined,
      ({ input }) => nodesProblem(input) ?? '',
    ),
    ['nodes'],
  ),
  v.forward(
    v.check(
      spec => cacheProblem(spec) === undefined,
      ({ input }) => cacheProblem(input) ?? '',
    ),
    ['cache'],
  ),
  v.forward(
    v.check(
      ({ start, sweep, runs = 1, nodes = 1 }) =>
        start === undefined || (sweep === undefined && runs === 1 && nodes === 1),
      'is for one run on one machine, so remove it',
    ),
    ['start'],
  ),
  v.forward(
    v.check(({ wait, machine }) => wait === undefined || machine?.price !== undefined, waitForm),
    ['wait'],
  ),
  v.forward(
    v.check(({ machine }) => !machine?.interruptible || v.is(v.optional(FirstBid), machine.price), bidForm),
    ['machine', 'price'],
  ),
)
export type ProjectSpec = v.InferOutput<typeof ProjectSpec>
/** The same in the file's notation: times as `30m`. */
export type ProjectDraft = v.InferInput<typeof ProjectSpec>

/** A spec in the notation of its file. */
export function specDraft(spec: ProjectSpec): ProjectDraft {
  const { checkpoint, stop, failed, keep, wait } = spec
  return {
    ...spec,
    keep: keep === undefined ? undefined : timeText(keep),
    before_stop: beforeStopDraft(spec.before_stop),
    wait: wait === undefined ? undefined : timeText(wait),
    checkpoint:
      typeof checkpoint === 'object'
        ? { ...checkpoint, every: timeText(checkpoint.every) }
        : checkpoint === undefined
          ? undefined
          : timeText(checkpoint),
    stop: stop && { ...stop, idle: stop.idle === undefined ? undefined : timeText(stop.idle) },
    failed: failed && { ...failed, keep: failed.keep === undefined ? undefined : timeText(failed.keep) },
  }
}

/** How long the machine of a failed run is kept, in seconds, and whether it is destroyed then. */
export const Keeping = v.strictObject({
  seconds: v.pipe(
    v.number(),
    v.minValue(60, 'at least a minute'),
    v.maxValue(366 * 86_400, 'at most a year'),
  ),
  destroys: v.boolean(),
})
export type Keeping = v.InferOutput<typeof Keeping>

/** A run's options that override berth.yaml. */
export const SpecChange = v.strictObject({
  sweep: v.optional(SweepSpec),
  runs: v.optional(Runs),
  atOnce: v.optional(AtOnce),
  /** In seconds; 0 where its machine does not wait. */
  keep: v.optional(
    v.union([
      v.literal(0),
      v.pipe(v.number(), v.minValue(60, 'at least a minute'), v.maxValue(7 * 86_400, 'at most a week')),
    ]),
  ),
  start: v.optional(v.union([v.literal('now'), StartTime])),
  /** In seconds; 0 where it doesn't wait. */
  wait: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(366 * 86_400))),
  nodes: v.optional(NodeCount),
  /** One machine with as many GPUs in place of several. */
  oneMachine: v.optional(v.literal(true)),
})
export type SpecChange = v.InferOutput<typeof SpecChange>
