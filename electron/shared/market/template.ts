import * as v from 'valibot'
import { given, text } from '../fields.ts'

/** The service's name of a field (section 2.3), its shape as edited, and its value where a template has none. */
function field<Wire extends string, Shape extends v.GenericSchema, Initial>(
  wire: Wire,
  shape: Shape,
  initial: Initial,
) {
  return { wire, shape, initial }
}
const switched = <Wire extends string>(wire: Wire) => field(wire, v.boolean(), false)
const written = <Wire extends string>(wire: Wire, most: number) => field(wire, text(most), '')
const record = v.record(v.string(), v.unknown())
const disk = v.pipe(
  v.number('enter the disk in GB'),
  v.finite(),
  v.gtValue(0, 'the disk must be larger than 0 GB'),
  v.maxValue(100_000),
)

const fields = {
  name: field('name', given('a template name', 256), ''),
  image: field('image', given('a Docker image', 512), ''),
  tag: written('tag', 128),
  description: written('desc', 2048),
  readme: written('readme', 262_144),
  /** Docker flag format: `-e NAME=value -p host:container`. */
  env: written('env', 65_536),
  onstart: written('onstart', 65_536),
  runtype: field('runtype', v.picklist(['ssh', 'jupyter', 'args']), 'args'),
  /** Used when the runtype is `args`. */
  args: written('args_str', 16_384),
  sshDirect: switched('ssh_direct'),
  useSsh: switched('use_ssh'),
  jupyterDirect: switched('jup_direct'),
  jupyterFolder: written('jupyter_dir', 1024),
  jupyterLab: switched('use_jupyter_lab'),
  registry: written('docker_login_repo', 512),
  registryUser: written('docker_login_user', 256),
  /** A secret, write-only: the service never returns it. Absent leaves it unchanged. */
  registryToken: field('docker_login_pass', v.optional(text(8192)), undefined),
  href: written('href', 2048),
  repo: written('repo', 512),
  /** `{field: {operator: value}}`: initial machine filters for renting from it. */
  extraFilters: field('extra_filters', v.record(v.string(), record), {}),
  /** GB. */
  disk: field('recommended_disk_space', disk, 8),
  private: switched('private'),
  /** Suggests a volume when renting from it: a hint without effect on the service. Null for none. */
  volumeInfo: field('volume_info', v.nullable(record), null),
}
type Fields = typeof fields
type Each<Part extends 'wire' | 'shape'> = { [Name in keyof Fields]: Fields[Name][Part] }

/** The same of each field, by its name. */
function ofEach<Value>(read: (field: Fields[keyof Fields]) => Value) {
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, read(each)]))
}

/** A template's own fields, as edited. */
export const TemplateFields = v.object(ofEach(({ shape }) => shape) as Each<'shape'>)
export type TemplateFields = v.InferOutput<typeof TemplateFields>

export const templateNames = ofEach(({ wire }) => wire) as Each<'wire'>
export const initialTemplate = ofEach(({ initial }) => initial) as TemplateFields

/** A template as Berth shows it. `hash` identifies it for renting and editing; each edit changes it, but not `id`. */
export interface TemplateView extends Partial<Omit<TemplateFields, 'registryToken'>> {
  name: string
  hash: string
  id?: number
  creatorId?: number
  /** Whether it belongs to the account's user; undefined if the service does not say. */
  own?: boolean
  /** Epoch seconds. */
  createdAt?: number
  recentlyUsedAt?: number
  /** The number of instances created from it. */
  used?: number
  recommended?: boolean
  /** The tag for an image without one. */
  defaultTag?: string
}

const operators = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte'] as const

/** `select_filters` of section 4.5, on the fields of section 2.3. All conditions must hold. */
export const TemplateFilter = v.object({
  field: v.picklist([
    'creator_id',
    'created_at',
    'count_created',
    'default_tag',
    'docker_login_repo',
    'id',
    'image',
    'jup_direct',
    'hash_id',
    'name',
    'recent_create_date',
    'recommended_disk_space',
    'recommended',
    'ssh_direct',
    'tag',
    'use_ssh',
  ]),
  condition: v.union([
    v.object({ operator: v.picklist(operators), value: v.union([v.string(), v.number(), v.boolean()]) }),
    v.object({
      operator: v.picklist(['in', 'notin']),
      value: v.array(v.union([v.string(), v.number(), v.boolean()])),
    }),
  ]),
})
export type TemplateFilter = v.InferOutput<typeof TemplateFilter>
