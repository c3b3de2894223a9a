import { firstPart, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { stopLimit, whenOf } from '#renderer/features/limits/rentalLimits.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { defaultLimits } from '#shared/automation/limit-defaults.ts'
import { named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import type { BeforeStop } from '#shared/project/before-stop.ts'
import type { Engine } from '#shared/project/nodes.ts'
import type { Retry } from '#shared/project/retry.ts'
import { type ProjectDraft, ProjectSpec, SpecChange, specDraft, timeText } from '#shared/project/spec.ts'
import type { Setting } from '#shared/project/sweep.ts'
import { textsIn } from '#shared/project/variables.ts'
import {
  figured,
  lines,
  listedIn,
  oneOrSeveral,
  type SpecField,
  type SpecFieldName,
  said,
  specFieldNames,
  specFields,
} from './specFields.ts'

/** The form's input. */
export interface SpecFields extends Record<SpecFieldName, string> {
  market: 'on-demand' | 'interruptible'
  from: 'image' | 'template'
  template: { hash: string; name: string } | undefined
  limits: readonly Limit[]
  after: 'destroy' | 'stop'
  retryElsewhere: boolean
  engine: Engine | 'usual'
}

const eachText = (textOf: (field: SpecField) => string) =>
  Object.fromEntries(specFieldNames.map(name => [name, textOf(specFields[name])])) as Record<
    SpecFieldName,
    string
  >

export const emptySpec: SpecFields = {
  ...eachText(() => ''),
  count: '1',
  market: 'on-demand',
  from: 'image',
  template: undefined,
  limits: [stopLimit(defaultLimits.duration)],
  after: 'destroy',
  retryElsewhere: false,
  engine: 'usual',
}

/** The part of the form that most projects leave empty, to which a field belongs. */
const partOf = (name: SpecFieldName | 'engine') =>
  name === 'engine' ? specFields.nodes.part : specFields[name].part

/** The names of those parts that are filled in. */
export function filledExtras(fields: SpecFields): string[] {
  const names = [...specFieldNames, 'engine' as const]
  const filled = names.filter(name => fields[name].trim() !== emptySpec[name])
  return [...new Set(filled.flatMap(name => partOf(name) ?? []))]
}

export function isExtraField(name: string): boolean {
  return [...specFieldNames, 'engine' as const].some(one => one === name && partOf(one) !== undefined)
}

/** The input that shows a spec. Fields that can't show its values are empty, such as those of a list of settings. */
export function specFieldsOf(spec: ProjectSpec): SpecFields {
  const { stop = {}, template } = spec
  return {
    ...eachText(({ show }) => show(spec)),
    market: spec.machine?.interruptible ? 'interruptible' : 'on-demand',
    from: template === undefined ? 'image' : 'template',
    template: template === undefined ? undefined : { hash: template, name: template },
    limits: [
      stop.idle === undefined ? undefined : stopLimit({ ...defaultLimits.idle, seconds: stop.idle }),
      stop.hours === undefined ? undefined : stopLimit({ kind: 'duration', seconds: stop.hours * 3600 }),
      stop.dollars === undefined ? undefined : stopLimit({ kind: 'cost', dollars: stop.dollars }),
    ].filter(limit => limit !== undefined),
    after: spec.after ?? 'destroy',
    retryElsewhere: spec.retry?.elsewhere ?? false,
    engine: spec.engine ?? 'usual',
  }
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
  spec: Pick<ProjectSpec, 'sweep'> | undefined,
): ReadForm<SpecChange> {
  const change = { sweep: sweepDraft(sweep), runs: figured(runs), atOnce: figured(atOnce) }
  const isSweep = [change.sweep, change.runs, spec?.sweep].some(value => value !== undefined)
  return isSweep
    ? readForm(SpecChange, change, firstPart)
    : { errors: { sweep: 'Enter a setting, or repeats.' } }
}

/** What a sweep's fields come to: `6 runs: every combination once, with $lr set.`; undefined until they can be read. */
export function sweepWords(
  fields: Pick<SpecFields, 'sweep' | 'runs' | 'atOnce'>,
  listed: readonly Setting[] | undefined,
): string | undefined {
  const { value } = readSweepForm(fields, listed && { sweep: [...listed] })
  if (!value) return undefined
  const repeats = value.runs ?? 1
  const each = repeats === 1 ? 'once' : `${repeats} times`
  if (value.sweep && !Array.isArray(value.sweep)) {
    const grid = Object.entries(value.sweep)
    const settings = grid.reduce((count, [, values]) => count * values.length, 1)
    const names = named(grid.map(([name]) => `$${name}`))
    return `${counted(settings * repeats, 'run')}: every combination ${each}, with ${names} set.`
  }
  if (listed)
    return `${counted(listed.length * repeats, 'run')}: each setting of berth.yaml ${each}. Your input replaces them.`
  return repeats === 1 ? undefined : `${counted(repeats, 'run')}, all alike.`
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
  const count = figured(fields.count)
  const machine = {
    gpu: oneOrSeveral(fields.gpu),
    count: count === 1 ? undefined : count,
    price: figured(fields.price),
    interruptible: market === 'interruptible' || undefined,
  }
  const plain = specFieldNames.flatMap(name => {
    const { at, read } = specFields[name]
    return at !== undefined && read ? [[at, read(fields[name])]] : []
  })
  return {
    ...(Object.fromEntries(plain) as ProjectDraft),
    machine: Object.values(machine).some(value => value !== undefined) ? machine : undefined,
    image: from === 'image' ? said(fields.image) : undefined,
    template: from === 'template' ? (fields.template?.hash ?? '') : undefined,
    setup: setupDraft(fields),
    stop: stopDraft(fields.limits),
    after: after === 'stop' ? after : undefined,
    sweep: sweepDraft(fields.sweep),
    before_stop: beforeStopOf(fields),
    retry: retryDraft(fields),
    volume: volumeDraft(fields),
    engine: fields.engine === 'usual' ? undefined : fields.engine,
  }
}

function volumeDraft({ volume, volumeSize }: SpecFields): ProjectDraft['volume'] {
  const size = figured(volumeSize)
  if (size === undefined) return said(volume)
  const [name = '', at = ''] = volume.trim().split(/:(.*)/s)
  return { name, at, size }
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
  const [run, reads] = [said(setup), oneOrSeveral(setupReads)]
  return run === undefined || reads === undefined ? run : { run, reads }
}

function retryDraft({ retryTimes, retryOn, retryElsewhere }: SpecFields): ProjectDraft['retry'] {
  const [times, on] = [figured(retryTimes), listedIn(retryOn)]
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

/** The field that shows an error of a place in the file: the one for the nearest place around it. */
function fieldAt(path: string): string {
  const [first = '', second = ''] = path.split('.')
  if (first === 'stop') return 'limits'
  const isAround = (at: string) => path === at || path.startsWith(`${at}.`)
  const [nearest] = specFieldNames
    .filter(name => isAround(specFields[name].at ?? ' '))
    .sort((a, b) => (specFields[b].at ?? '').length - (specFields[a].at ?? '').length)
  return nearest ?? (first === 'machine' ? second : first)
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
