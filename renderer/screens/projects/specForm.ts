import type { Limit } from '#contract/automation/limit.ts'
import { type ProjectDraft, ProjectSpec, timeText } from '#contract/project/spec.ts'
import { number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { stopOf, stopOn, usualStops } from '#renderer/features/limits/stops.ts'

/** The form's input. Lists are separated by commas. */
export interface SpecFields {
  run: string
  setup: string
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
  stops: readonly Limit[]
  after: 'destroy' | 'stop'
  /** A line for each setting: its name, and values separated by commas. */
  sweep: string
  atOnce: string
  /** Minutes. */
  keep: string
}

export const emptySpec: SpecFields = {
  run: '',
  setup: '',
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
  stops: [stopOn(usualStops.duration)],
  after: 'destroy',
  sweep: '',
  atOnce: '',
  keep: '',
}

/** The form as a `berth.yaml`, or the errors by field. Default values are left out. */
export function readSpecForm(fields: SpecFields): ReadForm<ProjectDraft> {
  const draft = draftOf(fields)
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
    setup: said(fields.setup),
    run: fields.run,
    results: results && oneOrAll(results),
    stop: stopDraft(fields.stops),
    after: after === 'stop' ? after : undefined,
    sweep: sweepDraft(fields.sweep),
    at_once: figured(fields.atOnce),
    keep: keepText(fields.keep),
  }
}

/** `lr: 1e-4, 3e-4` on each line. What is no such line is left for the schema to refuse. */
function sweepDraft(text: string): ProjectDraft['sweep'] {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  if (lines.length === 0) return undefined
  return Object.fromEntries(
    lines.map(line => {
      const [name = '', ...values] = line.split(/[:=,]/).map(part => part.trim())
      return [
        name,
        values.filter(value => value !== '').map(value => (isFigure(value) ? Number(value) : value)),
      ]
    }),
  )
}

const isFigure = (value: string) => /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(value)

function keepText(text: string): string | undefined {
  const minutes = figured(text)
  return minutes === undefined ? undefined : `${minutes}m`
}

function stopDraft(stops: readonly Limit[]): ProjectDraft['stop'] {
  if (stops.length === 0) return undefined
  const idle = stopOf(stops, 'idle')
  const duration = stopOf(stops, 'duration')
  const cost = stopOf(stops, 'cost')
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
  return first === 'machine' ? second : first
}

/** Unsaved input by project, which survives a look at the price. */
const drafts = new Map<string, SpecFields>()

export function draftOfProject(project: string): SpecFields {
  return drafts.get(project) ?? emptySpec
}

export function keepDraft(project: string, fields: SpecFields): void {
  drafts.set(project, fields)
}

export function dropDraft(project: string): void {
  drafts.delete(project)
}
