import { invalidArgs } from '../errors.ts'
import { isObject } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { type Condition, readFilters } from '../world/market/filters.ts'
import { readChanges, readContent } from './template-content.ts'
import { searchableFields, templateRecord } from './template-record.ts'

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
  const conditions = readSelectFilters(query.get('select_filters'))
  const templates = world.templates
    .visible()
    .map(template => templateRecord(template, world.account.id))
    .filter(record => conditions.every(({ field, test }) => test(record[field] as number | string | boolean)))
  return { success: true, templates_found: templates.length, templates }
}

function edit({ world, body }: ApiRequest) {
  const fields = body()
  const template = world.templates.edit(fields.string('hash_id'), readChanges(fields))
  return { success: true, template: templateRecord(template, world.account.id) }
}

function readSelectFilters(text: string | null): Condition[] {
  if (text === null) return []
  let filters: unknown
  try {
    filters = JSON.parse(text)
  } catch {
    throw invalidArgs('select_filters is not JSON.')
  }
  if (!isObject(filters)) throw invalidArgs('select_filters must be an object {field: {operator: value}}.')
  return readFilters(filters, searchableFields)
}
