import { invalidArgs } from '../errors.ts'
import { type Fields, isObject } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { epochSeconds } from '../world/clock.ts'
import { contentDefaults, type Template, type TemplateContent } from '../world/templates/template.ts'
import { type FieldType, type RowTest, readStrictFilters } from './filters.ts'

/** Section 4.5: templates. */
export const templateRoutes: Routes = {
  'GET /template/': { permission: 'user_read', answer: search },
  'POST /template/': {
    permission: 'user_write',
    answer: ({ world, body }) => ({
      success: true,
      template: templateRecord(world.templates.create(readContent(body())), world.account.id),
    }),
  },
  'PUT /template/': { permission: 'user_write', answer: edit },
  'DELETE /template/': {
    permission: 'user_write',
    answer: ({ world, body }) => {
      world.templates.remove(body().integer('template_id'))
      return { success: true, msg: 'The template is gone.' }
    },
  },
}

function search({ world, query }: ApiRequest) {
  const test = readSelectFilters(query.get('select_filters'))
  const templates = world.templates
    .visible()
    .map(template => templateRecord(template, world.account.id))
    .filter(test)
  return { success: true, templates_found: templates.length, templates }
}

function edit({ world, body }: ApiRequest) {
  const fields = body()
  const template = world.templates.edit(fields.string('hash_id'), readChanges(fields))
  return { success: true, template: templateRecord(template, world.account.id) }
}

function readSelectFilters(text: string | null): RowTest {
  let filters: unknown
  try {
    filters = JSON.parse(text ?? '{}')
  } catch {
    throw invalidArgs('select_filters is not JSON.')
  }
  if (!isObject(filters)) throw invalidArgs('select_filters must be an object {field: {operator: value}}.')
  return readStrictFilters(filters, searchableFields)
}

/** A template in answers. The registry's token is never sent; its user only to the author. */
export function templateRecord(template: Template, readerId: number): Record<string, unknown> {
  const { docker_login_pass: _secret, docker_login_user, ...shown } = template.content
  return {
    ...shown,
    docker_login_user: template.creatorId === readerId ? docker_login_user : '',
    id: template.id,
    hash_id: template.hashId,
    creator_id: template.creatorId,
    default_tag: template.content.tag,
    recommended: template.recommended,
    count_created: template.launches,
    created_at: epochSeconds(template.created),
    recent_create_date: epochSeconds(template.lastLaunch),
  }
}

/** The fields that `select_filters` knows, section 2.3. */
export const searchableFields: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['creator_id', 'number'],
  ['created_at', 'number'],
  ['count_created', 'number'],
  ['default_tag', 'string'],
  ['docker_login_repo', 'string'],
  ['id', 'number'],
  ['image', 'string'],
  ['jup_direct', 'boolean'],
  ['hash_id', 'string'],
  ['name', 'string'],
  ['recent_create_date', 'number'],
  ['recommended_disk_space', 'number'],
  ['recommended', 'boolean'],
  ['ssh_direct', 'boolean'],
  ['tag', 'string'],
  ['use_ssh', 'boolean'],
])

/** Reads the body of a creation: five fields are required, the rest has defaults. Throws 400 `invalid_args`. */
export function readContent(body: Fields): TemplateContent {
  const required = {
    name: body.string('name'),
    image: body.string('image'),
    docker_login_repo: body.string('docker_login_repo'),
    docker_login_user: body.string('docker_login_user'),
    docker_login_pass: body.string('docker_login_pass'),
  }
  return { ...contentDefaults, ...required, ...readChanges(body) }
}

/** Reads the given fields of an edit or a creation, by the types of their defaults. Throws 400 `invalid_args`. */
export function readChanges(body: Fields): Partial<TemplateContent> {
  const given = Object.entries({ name: '', image: '', ...contentDefaults }).filter(([name]) => body.has(name))
  const changes: Partial<TemplateContent> = Object.fromEntries(
    given.map(([name, usual]) => {
      if (typeof usual === 'string') return [name, body.string(name)]
      return [name, typeof usual === 'boolean' ? body.boolean(name) : body.values[name]]
    }),
  )
  for (const name of ['name', 'image'] as const) {
    if (changes[name]?.trim() === '') throw body.refuse(`${name} must not be empty.`)
  }
  if (/\s/.test(changes.image ?? '')) throw body.refuse('image must name a Docker image.')
  if (!['ssh', 'jupyter', 'args'].includes(changes.runtype ?? 'args'))
    throw body.refuse('runtype must be ssh, jupyter or args.')
  if ((changes.jupyter_dir ?? null) !== null) body.string('jupyter_dir')
  if ((changes.volume_info ?? null) !== null) body.object('volume_info')
  if (!Object.values(body.optionalObject('extra_filters') ?? {}).every(isObject))
    throw body.refuse('extra_filters must have the shape {field: {operator: value}}.')
  const disk = body.optionalNumber('recommended_disk_space')
  if (disk === undefined) return changes
  if (disk <= 0) throw body.refuse('recommended_disk_space must be above 0.')
  return { ...changes, recommended_disk_space: disk }
}
