import * as Type from 'typebox'
import { listAnswer, Moment, plainAnswer, recordShape, removed, wrappedAnswer } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'
import type { Filters } from './offers.ts'

const knownFields = {
  image: Type.String(),
  tag: Type.String(),
  default_tag: Type.String(),
  desc: Type.String(),
  readme: Type.String(),
  /** Docker flags: `-e NAME=value`, `-p host:container`. */
  env: Type.String(),
  onstart: Type.String(),
  runtype: Type.String(),
  args_str: Type.String(),
  ssh_direct: Type.Boolean(),
  use_ssh: Type.Boolean(),
  jup_direct: Type.Boolean(),
  jupyter_dir: Type.String(),
  use_jupyter_lab: Type.Boolean(),
  docker_login_repo: Type.String(),
  docker_login_user: Type.String(),
  href: Type.String(),
  repo: Type.String(),
  /** `{field: {op: value}}`. */
  extra_filters: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
  /** GB. */
  recommended_disk_space: Type.Number(),
  recommended: Type.Boolean(),
  private: Type.Boolean(),
  volume_info: Type.Record(Type.String(), Type.Unknown()),
  creator_id: Type.Number(),
  created_at: Moment,
  recent_create_date: Moment,
  /** The number of instances created from it. */
  count_created: Type.Number(),
}

/** Section 2.3. `hash_id` changes with every edit; `id` stays. */
const templateShape = recordShape(
  { hash_id: Type.String(), name: Type.String() },
  { id: Type.Number(), ...knownFields },
  record => {
    if (typeof record['name'] !== 'string') record['name'] = ''
  },
)
export type Template = NonNullable<typeof templateShape.record>

/** A template's own fields, to create or edit it. Section 2.3 has the meanings and defaults. */
export interface TemplateBody {
  name: string
  image: string
  tag?: string
  desc?: string
  readme?: string
  env?: string
  onstart?: string
  runtype?: 'ssh' | 'jupyter' | 'args'
  args_str?: string
  ssh_direct?: boolean
  use_ssh?: boolean
  jup_direct?: boolean
  jupyter_dir?: string | null
  use_jupyter_lab?: boolean
  /** Registry, user and token (a secret); all empty for a public image. */
  docker_login_repo: string
  docker_login_user: string
  docker_login_pass: string
  href?: string
  repo?: string
  extra_filters?: Record<string, Record<string, unknown>>
  recommended_disk_space?: number
  private?: boolean
  volume_info?: Record<string, unknown> | null
}

/** The fields to search templates by (section 2.3). Times in epoch seconds. */
export interface TemplateSearchFields {
  creator_id: number
  created_at: number
  count_created: number
  default_tag: string
  docker_login_repo: string
  id: number
  image: string
  jup_direct: boolean
  hash_id: string
  name: string
  recent_create_date: number
  recommended_disk_space: number
  recommended: boolean
  ssh_direct: boolean
  tag: string
  use_ssh: boolean
}

const search = operation('GET', '/api/v0/template/', 'read', listAnswer('templates', templateShape), {
  size: 'search',
})

const createdShape = recordShape(
  { id: Type.Integer(), hash_id: Type.String() },
  { name: Type.String(), ...knownFields },
)

const create = operation('POST', '/api/v0/template/', 'never', wrappedAnswer('template', createdShape))

const editedShape = recordShape(
  { hash_id: Type.String() },
  { id: Type.Number(), name: Type.String(), ...knownFields },
)

/** Not repeatable: a successful edit invalidates the hash in the request. */
const edit = operation('PUT', '/api/v0/template/', 'never', wrappedAnswer('template', editedShape))

const removedShape = Type.Object({ success: Type.Boolean() })

const remove = operation('DELETE', '/api/v0/template/', 'harmless', plainAnswer(removedShape))

/** Stored launch configurations (section 4.5). Every method throws ServiceError. */
export function templates(send: Send) {
  return {
    /** The templates that meet every condition; without conditions all that the service shows. */
    search: async (filters: Filters<TemplateSearchFields>, options?: CallOptions) => {
      const any = Object.keys(filters).length > 0
      const query = any ? { query: { select_filters: JSON.stringify(filters) } } : {}
      return (await send(search, query, options)).templates
    },
    create: async (fields: TemplateBody, options?: CallOptions) =>
      (await send(create, { body: fields }, options)).template,
    /** Changes these fields of the template with this hash. The answer has its new hash. */
    edit: async (hash: string, changes: Partial<TemplateBody>, options?: CallOptions) =>
      (await send(edit, { body: { ...changes, hash_id: hash } }, options)).template,
    /** Removes a template by its numeric id. */
    remove: async (id: number, options?: CallOptions) => {
      await removed(send(remove, { body: { template_id: id } }, options))
    },
  }
}
