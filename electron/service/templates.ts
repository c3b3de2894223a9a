import type { Static } from 'typebox'
import * as Type from 'typebox'
import { listAnswer, Moment, plainAnswer, recordShape, wrappedAnswer } from './http/answer.ts'
import { removed } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'
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

const search: Operation<{ templates: Template[] }> = {
  method: 'GET',
  path: '/api/v0/template/',
  repeat: 'read',
  answer: listAnswer('templates', templateShape),
  size: 'search',
}

const createdShape = recordShape(
  { id: Type.Integer(), hash_id: Type.String() },
  { name: Type.String(), ...knownFields },
)
export type CreatedTemplate = NonNullable<typeof createdShape.record>

const create: Operation<{ template: CreatedTemplate }> = {
  method: 'POST',
  path: '/api/v0/template/',
  repeat: 'never',
  answer: wrappedAnswer('template', createdShape),
}

const editedShape = recordShape(
  { hash_id: Type.String() },
  { id: Type.Number(), name: Type.String(), ...knownFields },
)
export type EditedTemplate = NonNullable<typeof editedShape.record>

/** Not repeatable: a successful edit invalidates the hash in the request. */
const edit: Operation<{ template: EditedTemplate }> = {
  method: 'PUT',
  path: '/api/v0/template/',
  repeat: 'never',
  answer: wrappedAnswer('template', editedShape),
}

const removedShape = Type.Object({ success: Type.Boolean() })

const remove: Operation<Static<typeof removedShape>> = {
  method: 'DELETE',
  path: '/api/v0/template/',
  repeat: 'harmless',
  answer: plainAnswer(removedShape),
}

/** Stored launch configurations (section 4.5). Every method throws ServiceError. */
export interface Templates {
  /** The templates that meet every condition; without conditions all that the service shows. */
  search(filters: Filters<TemplateSearchFields>, options?: CallOptions): Promise<Template[]>
  create(fields: TemplateBody, options?: CallOptions): Promise<CreatedTemplate>
  /** Changes these fields of the template with this hash. The answer has its new hash. */
  edit(hash: string, changes: Partial<TemplateBody>, options?: CallOptions): Promise<EditedTemplate>
  /** Removes a template by its numeric id. */
  remove(id: number, options?: CallOptions): Promise<void>
}

export function templates(send: Send): Templates {
  return {
    search: async (filters, options) => {
      const any = Object.keys(filters).length > 0
      const query = any ? { query: { select_filters: JSON.stringify(filters) } } : {}
      return (await send(search, query, options)).templates
    },
    create: async (fields, options) => (await send(create, { body: fields }, options)).template,
    edit: async (hash, changes, options) =>
      (await send(edit, { body: { ...changes, hash_id: hash } }, options)).template,
    remove: async (id, options) => {
      await removed(send(remove, { body: { template_id: id } }, options))
    },
  }
}
