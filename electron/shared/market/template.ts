import * as v from 'valibot'
import { given, text } from '../fields.ts'

/** A template's own fields (section 2.3), as edited. */
export const TemplateFields = v.object({
  name: given('a template name', 256),
  image: given('a Docker image', 512),
  tag: text(128),
  description: text(2048),
  readme: text(262_144),
  /** Docker flag format: `-e NAME=value -p host:container`. */
  env: text(65_536),
  onstart: text(65_536),
  runtype: v.picklist(['ssh', 'jupyter', 'args']),
  /** Used when the runtype is `args`. */
  args: text(16_384),
  sshDirect: v.boolean(),
  useSsh: v.boolean(),
  jupyterDirect: v.boolean(),
  jupyterFolder: text(1024),
  jupyterLab: v.boolean(),
  registry: text(512),
  registryUser: text(256),
  /** A secret, write-only: the service never returns it. Absent leaves it unchanged. */
  registryToken: v.optional(text(8192)),
  href: text(2048),
  repo: text(512),
  /** `{field: {operator: value}}`: initial machine filters for renting from it. */
  extraFilters: v.record(v.string(), v.record(v.string(), v.unknown())),
  /** GB. */
  disk: v.pipe(
    v.number('enter the disk in GB'),
    v.finite(),
    v.gtValue(0, 'the disk must be larger than 0 GB'),
    v.maxValue(100_000),
  ),
  private: v.boolean(),
  /** Suggests a volume when renting from it: a hint without effect on the service. Null for none. */
  volumeInfo: v.nullable(v.record(v.string(), v.unknown())),
})
export type TemplateFields = v.InferOutput<typeof TemplateFields>

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
