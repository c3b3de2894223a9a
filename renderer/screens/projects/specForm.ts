import { firstPart, number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { stopLimit, whenOf } from '#renderer/features/limits/rentalLimits.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { defaultLimits } from '#shared/automation/limit-defaults.ts'
import type { BeforeStop } from '#shared/project/before-stop.ts'
import { setupOf } from '#shared/project/bounds.ts'
import type { Engine } from '#shared/project/nodes.ts'
import type { Retry } from '#shared/project/retry.ts'
import { type ProjectDraft, ProjectSpec, SpecChange, specDraft, timeText } from '#shared/project/spec.ts'
import { listOfTexts, textsIn } from '#shared/project/variables.ts'

/** The form's input. Lists are separated by commas. */
export interface SpecFields {
  run: string
  setup: string
  /** Patterns of the files that it reads, separated by commas. */
  setupReads: string
  gpu: string
  count: string
  /** Dollars per hour. */
  price: string
  market: 'on-demand' | 'interruptible'
  from: 'image' | 'template'
  image: string
  template: { hash: string; name: string } | undefined
  /** GB. */
  disk: string
  ports: string
  results: string
  limits: readonly Limit[]
  after: 'destroy' | 'stop'
  /** A line for each setting: its name, and values separated by commas. */
  sweep: string
  atOnce: string
  runs: string
  /** `02:00`, or `daily 02:00`. */
  start: string
  /** Hours. */
  wait: string
  /** Commands before a stop, the signal for the command, and how many seconds the stop waits. */
  stopRun: string
  stopSignal: string
  stopSeconds: string
  retryTimes: string
  /** Exit codes, separated by commas; error for any. */
  retryOn: string
  retryElsewhere: boolean
  /** Minutes. */
  keep: string
  /** `datasets:/data`. */
  volume: string
  /** GB of a new one. */
  volumeSize: string
  cache: string
  /** An address on each line; a folder after it where the files go elsewhere. */
  cloudFrom: string
  cloudTo: string
  nodes: string
  engine: Engine | 'usual'
}

export const emptySpec: SpecFields = {
  run: '',
  setup: '',
  setupReads: '',
  gpu: '',
  count: '1',
  price: '',
  market: 'on-demand',
  from: 'image',
  image: '',
  template: undefined,
  disk: '',
  ports: '',
  results: '',
  limits: [stopLimit(defaultLimits.duration)],
  after: 'destroy',
  sweep: '',
  atOnce: '',
  runs: '',
  start: '',
  wait: '',
  stopRun: '',
  stopSignal: '',
  stopSeconds: '',
  retryTimes: '',
  retryOn: '',
  retryElsewhere: false,
  keep: '',
  volume: '',
  volumeSize: '',
  cache: '',
  cloudFrom: '',
  cloudTo: '',
  nodes: '',
  engine: 'usual',
}

/** Fields that most projects leave empty, by the name of their part. */
const extraFields = {
  sweep: ['sweep', 'runs', 'atOnce'],
  'a time to begin': ['start'],
  'waiting for an offer': ['wait'],
  retries: ['retryTimes', 'retryOn'],
  'before a stop': ['stopRun', 'stopSignal', 'stopSeconds'],
  'waiting machine': ['keep', 'setupReads'],
  data: ['volume', 'volumeSize', 'cache', 'cloudFrom', 'cloudTo'],
  'several machines': ['nodes', 'engine'],
} as const satisfies Record<string, readonly (keyof SpecFields)[]>

/** The names of those parts that are filled in. */
export function filledExtras(fields: SpecFields): string[] {
  return Object.entries(extraFields).flatMap(([part, names]) =>
    names.some(name => fields[name].trim() !== emptySpec[name]) ? part : [],
  )
}

export function isExtraField(name: string): boolean {
  return Object.values(extraFields).some(names => (names as readonly string[]).includes(name))
}

/** The input that shows a spec. Fields that can't show its values are empty, such as those of a list of settings. */
export function specFieldsOf(spec: ProjectSpec): SpecFields {
  const { machine = {}, stop = {}, sweep, volume, from } = spec
  return {
    run: spec.run,
    setup: setupOf(spec)?.run ?? '',
    setupReads: shown(setupOf(spec)?.reads),
    gpu: shown(machine.gpu),
    count: shown(machine.count ?? 1),
    price: shown(machine.price),
    market: machine.interruptible ? 'interruptible' : 'on-demand',
    from: spec.template === undefined ? 'image' : 'template',
    image: spec.image ?? '',
    template: spec.template === undefined ? undefined : { hash: spec.template, name: spec.template },
    disk: shown(spec.disk),
    ports: shown(spec.ports),
    results: shown(spec.results),
    limits: [
      stop.idle === undefined ? undefined : stopLimit({ ...defaultLimits.idle, seconds: stop.idle }),
      stop.hours === undefined ? undefined : stopLimit({ kind: 'duration', seconds: stop.hours * 3600 }),
      stop.dollars === undefined ? undefined : stopLimit({ kind: 'cost', dollars: stop.dollars }),
    ].filter(limit => limit !== undefined),
    after: spec.after ?? 'destroy',
    sweep: sweep === undefined || Array.isArray(sweep) ? '' : sweepText(sweep),
    atOnce: shown(spec.at_once),
    runs: shown(spec.runs),
    start: spec.start ?? '',
    wait: spec.wait === undefined ? '' : shown(Math.round(spec.wait / 36) / 100),
    stopRun: spec.before_stop?.run ?? '',
    stopSignal: spec.before_stop?.signal ?? '',
    stopSeconds: shown(spec.before_stop?.at_most),
    retryTimes: shown(spec.retry?.times),
    retryOn: shown(spec.retry?.on),
    retryElsewhere: spec.retry?.elsewhere ?? false,
    keep: spec.keep === undefined ? '' : shown(Math.round(spec.keep / 60)),
    volume: volume === undefined ? '' : `${volume.name}:${volume.at}`,
    volumeSize: shown(volume?.size),
    cache: shown(spec.cache),
    cloudFrom: (from === undefined ? [] : [from])
      .flat()
      .map(copy => (typeof copy === 'string' ? copy : `${copy.cloud} ${copy.to}`))
      .join('\n'),
    cloudTo: spec.to ?? '',
    nodes: shown(spec.nodes),
    engine: spec.engine ?? 'usual',
  }
}

function shown(value: number | string | readonly (number | string)[] | undefined): string {
  return value === undefined ? '' : [value].flat().join(', ')
}

function sweepText(grid: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(grid)
    .map(([name, values]) => `${name}: ${listOfTexts(values)}`)
    .join('\n')
}

/** The parts of `machine` that the form has. */
const machineParts = ['gpu', 'count', 'price', 'interruptible'] as const

/** The spec with the changed fields; fields that the form lacks stay. */
function editedDraft(fields: SpecFields, spec: ProjectSpec): ProjectDraft {
  const [kept, before, after] = [specDraft(spec), draftOf(specFieldsOf(spec)), draftOf(fields)]
  const machine = changed(kept.machine ?? {}, before.machine ?? {}, after.machine ?? {}, machineParts)
  const draft = changed(kept, before, after, Object.keys(after) as (keyof ProjectDraft)[])
  return {
    ...draft,
    machine: Object.values(machine).some(value => value !== undefined) ? machine : undefined,
  }
}

/** The values of `kept`, but for the keys whose values differ those of `after`. */
function changed<Values extends object, Key extends keyof Values>(
  kept: Values,
  before: Values,
  after: Values,
  keys: readonly Key[],
): Values {
  const different = keys.filter(key => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  return { ...kept, ...Object.fromEntries(different.map(key => [key, after[key]])) }
}

/** A sweep that is chosen for one run, in place of the file's; an error where there is none in either. */
export function readSweepForm(
  { sweep, runs, atOnce }: Pick<SpecFields, 'sweep' | 'runs' | 'atOnce'>,
  spec: ProjectSpec | undefined,
): ReadForm<SpecChange> {
  const change = { sweep: sweepDraft(sweep), runs: figured(runs), atOnce: figured(atOnce) }
  const isSweep = [change.sweep, change.runs, spec?.sweep].some(value => value !== undefined)
  return isSweep
    ? readForm(SpecChange, change, firstPart)
    : { errors: { sweep: 'Enter a setting, or repeats.' } }
}

/**
 * The form as a `berth.yaml`, or the errors by field. Default values are left out.
 * @param spec the content of the file that it changes
 */
export function readSpecForm(fields: SpecFields, spec?: ProjectSpec): ReadForm<ProjectDraft> {
  const draft = spec ? editedDraft(fields, spec) : draftOf(fields)
  const { errors } = readForm(ProjectSpec, draft, fieldAt)
  return errors ? { errors } : { value: draft }
}

function draftOf(fields: SpecFields): ProjectDraft {
  const { from, market, after } = fields
  const gpu = listed(fields.gpu)
  const count = figured(fields.count)
  const machine = {
    gpu: gpu && oneOrAll(gpu),
    count: count === 1 ? undefined : count,
    price: figured(fields.price),
    interruptible: market === 'interruptible' || undefined,
  }
  const results = listed(fields.results)
  return {
    machine: Object.values(machine).some(value => value !== undefined) ? machine : undefined,
    image: from === 'image' ? said(fields.image) : undefined,
    template: from === 'template' ? (fields.template?.hash ?? '') : undefined,
    disk: figured(fields.disk),
    ports: listed(fields.ports)?.map(port => (/^\d+$/.test(port) ? Number(port) : port)),
    setup: setupDraft(fields),
    run: fields.run,
    results: results && oneOrAll(results),
    stop: stopDraft(fields.limits),
    after: after === 'stop' ? after : undefined,
    sweep: sweepDraft(fields.sweep),
    runs: figured(fields.runs),
    at_once: figured(fields.atOnce),
    start: fields.start.trim() || undefined,
    wait: waitText(fields.wait),
    before_stop: beforeStopOf(fields),
    retry: retryDraft(fields),
    keep: keepText(fields.keep),
    ...dataDraft(fields),
    nodes: figured(fields.nodes),
    engine: fields.engine === 'usual' ? undefined : fields.engine,
  }
}

function dataDraft(fields: SpecFields): Pick<ProjectDraft, 'volume' | 'cache' | 'from' | 'to'> {
  const cache = listed(fields.cache)
  const copies = lines(fields.cloudFrom).map(line => {
    const [cloud = '', to = ''] = line.split(/\s(.*)/s)
    return to === '' ? cloud : { cloud, to: to.trim() }
  })
  const [copy = ''] = copies
  return {
    volume: volumeDraft(fields),
    cache: cache && oneOrAll(cache),
    from: copies.length === 0 ? undefined : copies.length === 1 ? copy : copies,
    to: said(fields.cloudTo),
  }
}

function volumeDraft({ volume, volumeSize }: SpecFields): ProjectDraft['volume'] {
  const size = figured(volumeSize)
  if (size === undefined) return said(volume)
  const [name = '', at = ''] = volume.trim().split(/:(.*)/s)
  return { name, at, size }
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

/** `lr: 1e-4, 3e-4` on each line. What is no such line is left for the schema to refuse. */
function sweepDraft(text: string): ProjectDraft['sweep'] {
  const settings = lines(text)
  if (settings.length === 0) return undefined
  return Object.fromEntries(
    settings.map(line => {
      const [, name = line, list = ''] = /^([^:=,]*)[:=](.*)$/s.exec(line) ?? []
      const read = textsIn(list)
      return [name.trim(), 'texts' in read ? read.texts : []]
    }),
  )
}

function setupDraft({ setup, setupReads }: SpecFields): ProjectDraft['setup'] {
  const [run, reads] = [said(setup), listed(setupReads)]
  return run === undefined || reads === undefined ? run : { run, reads: oneOrAll(reads) }
}

function retryDraft({ retryTimes, retryOn, retryElsewhere }: SpecFields): ProjectDraft['retry'] {
  const [times, on] = [figured(retryTimes), listed(retryOn)]
  if (times === undefined && on === undefined) return undefined
  const codes = on?.map(one => (/^\d+$/.test(one) ? Number(one) : one)) as Retry['on']
  return {
    times: times ?? 1,
    on: Array.isArray(codes) && codes.length === 1 ? codes[0] : codes,
    elsewhere: retryElsewhere || undefined,
  }
}

function beforeStopOf({ stopRun, stopSignal, stopSeconds }: SpecFields): ProjectDraft['before_stop'] {
  const [run, signal, seconds] = [said(stopRun), said(stopSignal), said(stopSeconds)]
  if ([run, signal, seconds].every(value => value === undefined)) return undefined
  return {
    signal: signal?.toUpperCase().replace(/^SIG/, '') as BeforeStop['signal'],
    run,
    at_most: seconds === undefined ? undefined : `${seconds}s`,
  }
}

function waitText(text: string): string | undefined {
  const hours = figured(text)
  return hours === undefined ? undefined : timeText(hours * 3600)
}

function keepText(text: string): string | undefined {
  const minutes = figured(text)
  return minutes === undefined ? undefined : `${minutes}m`
}

function stopDraft(limits: readonly Limit[]): ProjectDraft['stop'] {
  if (limits.length === 0) return undefined
  const idle = whenOf(limits, 'idle')
  const duration = whenOf(limits, 'duration')
  const cost = whenOf(limits, 'cost')
  return {
    idle: idle && timeText(Math.max(60, idle.seconds)),
    hours: duration && duration.seconds / 3600,
    dollars: cost?.dollars,
  }
}

function said(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}

function figured(text: string): number | undefined {
  return text.trim() === '' ? undefined : number(text)
}

function listed(text: string): string[] | undefined {
  const parts = text
    .split(/[,\n]/)
    .map(part => part.trim())
    .filter(part => part !== '')
  return parts.length === 0 ? undefined : parts
}

/** A single entry needs no list. */
function oneOrAll(list: readonly string[]): string | string[] {
  const [first = ''] = list
  return list.length === 1 ? first : [...list]
}

function fieldAt(path: string): string {
  const [first = '', second = ''] = path.split('.')
  if (first === 'stop') return 'stops'
  if (first === 'at_once') return 'atOnce'
  if (first === 'from') return 'cloudFrom'
  if (first === 'before_stop') return { run: 'stopRun', signal: 'stopSignal' }[second] ?? 'stopSeconds'
  if (first === 'retry') return second === 'on' ? 'retryOn' : 'retryTimes'
  if (first === 'to') return 'cloudTo'
  if (path === 'volume.size') return 'volumeSize'
  return first === 'machine' ? second : first
}

/** Unsaved input by project, which survives a look at the price. */
const drafts = new Map<string, SpecFields>()

export function draftOfProject(project: string): SpecFields | undefined {
  return drafts.get(project)
}

export function keepDraft(project: string, fields: SpecFields): void {
  drafts.set(project, fields)
}

export function dropDraft(project: string): void {
  drafts.delete(project)
}
