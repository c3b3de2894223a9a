import { number } from '#renderer/components/fields/readForm.ts'
import { setupOf } from '#shared/project/bounds.ts'
import { usualSetup } from '#shared/project/project-defaults.ts'
import { type ProjectSpec, timeText } from '#shared/project/spec.ts'
import { listOfTexts } from '#shared/project/variables.ts'

/** All that there is to say about a line or an area of text in the form for a `berth.yaml`. */
export interface SpecField {
  label: string
  placeholder?: string
  hint?: string
  unit?: string
  inputmode?: 'numeric' | 'decimal'
  /** How much of its row it takes; the whole one by default. */
  width?: 'small' | 'wide'
  /** The lines of an area. */
  rows?: number
  /** The part that most projects leave empty, to which it belongs. */
  part?: string
  /** Where the file has it, as errors name it: those below that place are shown here, too. Absent for another field's. */
  at?: string
  /** Its text for a spec; empty where it can't show the value. */
  show(spec: ProjectSpec): string
  /** Its value in the file; absent where several fields make one value, or where it isn't on the top level. */
  read?(text: string): unknown
}

const fields = {
  run: {
    label: 'Command',
    hint: 'Runs in the folder on the rented machine. Its output is kept.',
    placeholder: 'python train.py',
    rows: 2,
    at: 'run',
    show: spec => spec.run,
    read: text => text,
  },
  setup: {
    label: 'Set-up (optional)',
    hint: 'Runs once before the command.',
    placeholder: 'pip install -r requirements.txt',
    rows: 2,
    at: 'setup',
    show: spec => setupOf(spec)?.run ?? '',
  },
  gpu: {
    label: 'GPU',
    placeholder: 'Any, or: RTX 4090, H100',
    width: 'wide',
    at: 'machine.gpu',
    show: spec => shown(spec.machine?.gpu),
  },
  count: {
    label: 'Count',
    inputmode: 'numeric',
    width: 'small',
    at: 'machine.count',
    show: spec => shown(spec.machine?.count ?? 1),
  },
  price: {
    label: 'At most',
    unit: '$/h',
    inputmode: 'decimal',
    placeholder: 'Any',
    width: 'small',
    at: 'machine.price',
    show: spec => shown(spec.machine?.price),
  },
  image: {
    label: 'Image',
    placeholder: usualSetup.image,
    at: 'image',
    show: spec => spec.image ?? '',
  },
  disk: {
    label: 'Disk',
    unit: 'GB',
    inputmode: 'decimal',
    placeholder: String(usualSetup.disk),
    width: 'small',
    at: 'disk',
    show: spec => shown(spec.disk),
    read: figured,
  },
  ports: {
    label: 'Ports',
    placeholder: '6006',
    width: 'small',
    at: 'ports',
    show: spec => shown(spec.ports),
    read: text => listedIn(text)?.map(port => (/^\d+$/.test(port) ? Number(port) : port)),
  },
  results: {
    label: 'Results (optional)',
    placeholder: 'out, logs',
    hint: 'Folders or files of this project to download at the end.',
    at: 'results',
    show: spec => shown(spec.results),
    read: oneOrSeveral,
  },

  // Sweeps, and when and how often the command runs.
  sweep: {
    label: 'Sweep',
    hint: 'A setting per line. Every combination runs once, with $lr set.',
    placeholder: 'lr: 1e-4, 3e-4',
    rows: 2,
    part: 'sweep',
    at: 'sweep',
    show: ({ sweep }) => (sweep === undefined || Array.isArray(sweep) ? '' : sweepText(sweep)),
  },
  runs: {
    label: 'Repeats',
    inputmode: 'numeric',
    placeholder: '1',
    hint: 'Runs of each setting.',
    width: 'wide',
    part: 'sweep',
    at: 'runs',
    show: spec => shown(spec.runs),
    read: figured,
  },
  atOnce: {
    label: 'Machines at once',
    inputmode: 'numeric',
    placeholder: '8',
    width: 'wide',
    part: 'sweep',
    at: 'at_once',
    show: spec => shown(spec.at_once),
    read: figured,
  },
  start: {
    label: 'Begin at',
    placeholder: '02:00',
    hint: 'Or daily 02:00, while Berth runs.',
    width: 'small',
    part: 'a time to begin',
    at: 'start',
    show: spec => spec.start ?? '',
    read: said,
  },

  // If something fails.
  wait: {
    label: 'Wait for an offer',
    unit: 'h',
    inputmode: 'decimal',
    placeholder: '0',
    hint: 'If none fits within the price.',
    width: 'small',
    part: 'waiting for an offer',
    at: 'wait',
    show: ({ wait }) => (wait === undefined ? '' : shown(Math.round(wait / 36) / 100)),
    read(text) {
      const hours = figured(text)
      return hours === undefined ? undefined : timeText(hours * 3600)
    },
  },
  retryTimes: {
    label: 'Retries',
    inputmode: 'numeric',
    placeholder: '0',
    width: 'small',
    part: 'retries',
    at: 'retry',
    show: spec => shown(spec.retry?.times),
  },
  retryOn: {
    label: 'After',
    placeholder: 'Any failure',
    hint: 'Exit codes, error or timeout, such as 137, timeout.',
    width: 'wide',
    part: 'retries',
    at: 'retry.on',
    show: spec => shown(spec.retry?.on),
  },
  stopRun: {
    label: 'Run before a stop',
    placeholder: './save.sh',
    hint: 'Limits act so much earlier that it fits.',
    width: 'wide',
    part: 'before a stop',
    at: 'before_stop.run',
    show: spec => spec.before_stop?.run ?? '',
  },
  stopSignal: {
    label: 'Signal',
    placeholder: 'TERM',
    width: 'small',
    part: 'before a stop',
    at: 'before_stop.signal',
    show: spec => spec.before_stop?.signal ?? '',
  },
  stopSeconds: {
    label: 'At most',
    unit: 's',
    inputmode: 'numeric',
    placeholder: '60',
    width: 'small',
    part: 'before a stop',
    at: 'before_stop',
    show: spec => shown(spec.before_stop?.at_most),
  },

  // A machine that waits for the next run.
  keep: {
    label: 'Keep the machine',
    unit: 'min',
    inputmode: 'numeric',
    placeholder: '0',
    hint: 'You pay while it waits.',
    width: 'wide',
    part: 'waiting machine',
    at: 'keep',
    show: ({ keep }) => (keep === undefined ? '' : shown(Math.round(keep / 60))),
    read(text) {
      const minutes = figured(text)
      return minutes === undefined ? undefined : `${minutes}m`
    },
  },
  setupReads: {
    label: 'Set-up reads',
    placeholder: 'Any file',
    hint: 'The set-up is repeated only if one of these changes.',
    width: 'wide',
    part: 'waiting machine',
    show: spec => shown(setupOf(spec)?.reads),
  },

  // Data.
  volume: {
    label: 'Volume',
    placeholder: 'datasets:/data',
    hint: 'Its name and where it’s mounted.',
    width: 'wide',
    part: 'data',
    at: 'volume',
    show: ({ volume }) => (volume === undefined ? '' : `${volume.name}:${volume.at}`),
  },
  volumeSize: {
    label: 'New volume',
    unit: 'GB',
    inputmode: 'decimal',
    placeholder: 'None',
    width: 'small',
    part: 'data',
    at: 'volume.size',
    show: spec => shown(spec.volume?.size),
  },
  cache: {
    label: 'Cache',
    placeholder: '~/.cache/huggingface',
    hint: 'Folders kept on the volume.',
    width: 'wide',
    part: 'data',
    at: 'cache',
    show: spec => shown(spec.cache),
    read: oneOrSeveral,
  },
  cloudFrom: {
    label: 'Copy from a cloud',
    hint: 'One address per line, then a folder if it goes elsewhere.',
    placeholder: 's3://bucket/images /data/images',
    rows: 2,
    part: 'data',
    at: 'from',
    show: ({ from = [] }) =>
      [from]
        .flat()
        .map(copy => (typeof copy === 'string' ? copy : `${copy.cloud} ${copy.to}`))
        .join('\n'),
    read(text) {
      const copies = lines(text).map(line => {
        const [cloud = '', to = ''] = line.split(/\s(.*)/s)
        return to === '' ? cloud : { cloud, to: to.trim() }
      })
      return copies.length > 1 ? copies : copies[0]
    },
  },
  cloudTo: {
    label: 'Copy results to a cloud',
    placeholder: 's3://bucket/runs',
    hint: 'Into a folder named after the run.',
    part: 'data',
    at: 'to',
    show: spec => spec.to ?? '',
    read: said,
  },

  // Several machines.
  nodes: {
    label: 'Machines',
    inputmode: 'numeric',
    placeholder: '1',
    width: 'small',
    part: 'several machines',
    at: 'nodes',
    show: spec => shown(spec.nodes),
    read: figured,
  },
} as const satisfies Record<string, SpecField>

export type SpecFieldName = keyof typeof fields

/** The texts of the form, in their order. Lists are separated by commas. */
export const specFields: Readonly<Record<SpecFieldName, SpecField>> = fields
export const specFieldNames = Object.keys(fields) as SpecFieldName[]

function shown(value: number | string | readonly (number | string)[] | undefined): string {
  return value === undefined ? '' : [value].flat().join(', ')
}

function sweepText(grid: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(grid)
    .map(([name, values]) => `${name}: ${listOfTexts(values)}`)
    .join('\n')
}

export function lines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

export function said(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}

export function figured(text: string): number | undefined {
  return text.trim() === '' ? undefined : number(text)
}

export function listedIn(text: string): string[] | undefined {
  const parts = text
    .split(/[,\n]/)
    .map(part => part.trim())
    .filter(part => part !== '')
  return parts.length === 0 ? undefined : parts
}

/** A single entry needs no list. */
export function oneOrSeveral(text: string): string | string[] | undefined {
  const list = listedIn(text)
  return list?.length === 1 ? list[0] : list
}
