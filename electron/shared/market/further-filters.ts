import { figure } from '../format/size.ts'
import type { ExtraFilters, OfferFilter, OfferView } from './offer.ts'

/** The keys of a filter with values of that type. */
type KeyOf<Value> = {
  [Key in keyof OfferFilter]-?: NonNullable<OfferFilter[Key]> extends Value ? Key : never
}[keyof OfferFilter]

interface Named {
  /** On the chip. */
  readonly name: string
  /** The service's field. */
  readonly field: string
  /** Only some deployments have the field. */
  readonly uncommon?: true
}

/** A filter for a minimum. */
export interface LeastFilter extends Named {
  readonly kind: 'least'
  readonly key: KeyOf<number>
  /** The offer's value, in the unit of the service's field. */
  readonly has: (offer: OfferView) => number | undefined
  /** Converts the filter's unit to that of the service's field, where they differ. */
  readonly inField?: (value: number) => number
  /** On the chip, and in the form unless `formUnit` is set. */
  readonly unit?: string
  readonly formUnit?: string
  /** The factor for display: 100 for a share in percent. */
  readonly scale?: number
  /** The most fraction digits for display; 0 by default. */
  readonly digits?: number
  /** Common choices, as displayed. */
  readonly usual: readonly number[]
  /** The highest possible value, as displayed. */
  readonly most?: number
  readonly whole?: true
  /** For a sentence, from the displayed figure: `at least 80 GB per GPU`. */
  readonly requirement: (figure: string) => string
}

/** A filter for a property. */
export interface OnlyFilter extends Named {
  readonly kind: 'only'
  readonly key: KeyOf<true>
  readonly has: (offer: OfferView) => boolean | undefined
  /** For a sentence: `a static IP address`. */
  readonly requirement: string
  /** Its meaning, a sentence. */
  readonly about: string
}

export type FurtherFilter = LeastFilter | OnlyFilter

/** Nominal sizes are rounded (an 80 GB card has 81,559 MB, a 24 GB one 24,564 or 23,028), so 6% less also passes. */
const roundedMegabytes = (gigabytes: number) => Math.floor(gigabytes * 1024 * 0.94)

/** One entry defines a filter: its form and chip, Berth's test, the service's condition, and its texts. */
const table = {
  memory: {
    kind: 'least',
    key: 'memoryFrom',
    name: 'VRAM',
    unit: 'GB',
    formUnit: 'GB per GPU',
    field: 'gpu_ram',
    has: offer => offer.gpuMemory,
    inField: roundedMegabytes,
    usual: [16, 24, 48, 80],
    requirement: figure => `at least ${figure} GB per GPU`,
  },
  reliability: {
    kind: 'least',
    key: 'reliabilityFrom',
    name: 'Reliability',
    unit: '%',
    scale: 100,
    digits: 4,
    most: 100,
    field: 'reliability2',
    has: offer => offer.reliability,
    usual: [90, 95, 99, 99.5],
    requirement: figure => `at least ${figure}% reliable`,
  },
  disk: {
    kind: 'least',
    key: 'diskFrom',
    name: 'Disk',
    unit: 'GB',
    field: 'disk_space',
    has: offer => offer.disk,
    usual: [50, 100, 500, 1000],
    requirement: figure => `at least ${figure} GB of disk`,
  },
  ram: {
    kind: 'least',
    key: 'ramFrom',
    name: 'RAM',
    unit: 'GB',
    field: 'cpu_ram',
    has: offer => offer.memory,
    inField: roundedMegabytes,
    usual: [32, 64, 128, 256],
    requirement: figure => `at least ${figure} GB of RAM`,
  },
  down: {
    kind: 'least',
    key: 'downFrom',
    name: 'Download',
    unit: 'Gb/s',
    scale: 0.001,
    digits: 3,
    field: 'inet_down',
    has: offer => offer.down,
    usual: [0.1, 0.5, 1, 5],
    requirement: figure => `at least ${figure} Gb/s of download`,
  },
  up: {
    kind: 'least',
    key: 'upFrom',
    name: 'Upload',
    unit: 'Gb/s',
    scale: 0.001,
    digits: 3,
    field: 'inet_up',
    has: offer => offer.up,
    usual: [0.1, 0.5, 1, 5],
    requirement: figure => `at least ${figure} Gb/s of upload`,
  },
  cuda: {
    kind: 'least',
    key: 'cudaFrom',
    name: 'CUDA',
    digits: 2,
    field: 'cuda_max_good',
    has: offer => offer.cuda,
    usual: [12.1, 12.4, 12.8, 13],
    requirement: figure => `CUDA ${figure} or later`,
  },
  duration: {
    kind: 'least',
    key: 'daysFrom',
    name: 'Duration',
    unit: 'days',
    digits: 2,
    field: 'duration',
    has: offer => offer.lasts,
    inField: days => days * 86_400,
    usual: [1, 7, 30, 90],
    requirement: figure => `available for at least ${figure} days`,
  },
  ports: {
    kind: 'least',
    key: 'portsFrom',
    name: 'Direct ports',
    formUnit: 'ports',
    whole: true,
    field: 'direct_port_count',
    has: offer => offer.directPorts,
    usual: [1, 4, 16, 64],
    requirement: figure => `at least ${figure} direct ports`,
  },
  staticIp: {
    kind: 'only',
    key: 'staticIp',
    name: 'Static IP',
    field: 'static_ip',
    has: offer => offer.staticIp,
    requirement: 'a static IP address',
    about: 'The machine keeps its public IP address.',
  },
  datacenter: {
    kind: 'only',
    key: 'datacenter',
    name: 'Data center',
    uncommon: true,
    field: 'datacenter',
    has: offer => offer.datacenter,
    requirement: 'in a data center',
    about: 'The service lists the machine as one in a data center.',
  },
} satisfies Record<string, FurtherFilter>

export type FurtherPart = keyof typeof table
export const furtherFilters: Readonly<Record<FurtherPart, FurtherFilter>> = table
export const furtherParts = Object.keys(table) as readonly FurtherPart[]

/** The filter keys and the name of each part. */
export const furtherKeys = eachPart(({ key }) => [key])
export const furtherNames = eachPart(({ name }) => name)

function eachPart<T>(read: (further: FurtherFilter) => T): Record<FurtherPart, T> {
  return Object.fromEntries(furtherParts.map(part => [part, read(furtherFilters[part])])) as Record<
    FurtherPart,
    T
  >
}

export function isFurther(part: string): part is FurtherPart {
  return Object.hasOwn(table, part)
}

/** One test for each of these filters that is set. An offer without the value does not pass. */
export function furtherTests(filter: OfferFilter): ((offer: OfferView) => boolean)[] {
  return furtherParts.flatMap(part => {
    const further = furtherFilters[part]
    if (further.kind === 'only')
      return filter[further.key] === undefined ? [] : offer => further.has(offer) === true
    const least = leastInField(further, filter)
    return least === undefined ? [] : offer => (further.has(offer) ?? Number.NEGATIVE_INFINITY) >= least
  })
}

/** The same as conditions for the service; `common` leaves out fields that only some deployments have. */
export function furtherConditions(filter: OfferFilter, common: boolean): ExtraFilters {
  const conditions: ExtraFilters = {}
  for (const part of furtherParts) {
    const further = furtherFilters[part]
    if (common && further.uncommon) continue
    if (further.kind === 'only') {
      if (filter[further.key] !== undefined) conditions[further.field] = { eq: true }
    } else {
      const least = leastInField(further, filter)
      if (least !== undefined) conditions[further.field] = { gte: least }
    }
  }
  return conditions
}

function leastInField({ key, inField = value => value }: LeastFilter, filter: OfferFilter) {
  const value = filter[key]
  return value === undefined ? undefined : inField(value)
}

/** The filter's displayed value: `98.5` for a share of 0.985. */
export function shownValue({ key, scale = 1 }: LeastFilter, filter: OfferFilter): number | undefined {
  const value = filter[key]
  return value === undefined ? undefined : Number((value * scale).toFixed(4))
}

/** The same as text: `98.5`, `1,000`. */
export function shownFigure(further: LeastFilter, filter: OfferFilter): string | undefined {
  const value = shownValue(further, filter)
  return value === undefined ? undefined : figure(value, further.digits ?? 0)
}

/** The filter's value from the displayed one. */
export function fromShown({ scale = 1 }: LeastFilter, shown: number | undefined): number | undefined {
  return shown === undefined ? undefined : Number((Number(shown.toFixed(4)) / scale).toFixed(6))
}

/** The filter's condition for a sentence: `at least 80 GB per GPU`. */
export function furtherWords(part: FurtherPart, filter: OfferFilter): string {
  const further = furtherFilters[part]
  if (further.kind === 'only') return further.requirement
  return further.requirement(shownFigure(further, filter) ?? '0')
}
