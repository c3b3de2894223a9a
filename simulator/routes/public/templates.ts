import { invalidArgs, notFound } from '#simulator/errors.ts'
import type { Fields } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import { type Order, readFilters, readOrder, selectColumns, sorted } from '../filters.ts'
import { readContent, searchableFields, templateRecord } from '../templates.ts'

/** Characters of a start script. */
export const longestScript = 4048

/** Templates: the login of a registry may be left out, and a template is deleted by its hash too. */
export const publicTemplates: Layer = {
  'GET /template/': search,
  'POST /template/': create,
  'DELETE /template/': remove,
}

function search({ world, query }: ApiRequest) {
  const knows = (field: string) => searchableFields.has(field) || field === 'private'
  const test = readFilters(query, knows)
  const order = readTemplateOrder(query.get('order_by'), knows)
  const records = world.templates.visible().map(template => templateRecord(template, world.account.id))
  const templates = sorted(records.filter(test), order)
  return {
    success: true,
    templates_found: templates.length,
    templates: selectColumns(templates, query.get('select_cols')),
  }
}

/** A column's name alone, too. */
function readTemplateOrder(text: string | null, knows: (field: string) => boolean): Order[] {
  return readOrder(text !== null && knows(text) ? JSON.stringify([{ col: text }]) : text, knows)
}

/** Creating the same template again gives the existing one. */
function create({ world, body }: ApiRequest) {
  const fields = body()
  const login = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' }
  if ((fields.optionalString('onstart') ?? '').length > longestScript)
    throw invalidArgs(`onstart has at most ${longestScript} characters.`)
  const content = readContent(fields.with({ ...login, ...fields.values }))
  const text = JSON.stringify(content)
  const known = world.templates
    .visible()
    .find(({ creatorId, content: own }) => creatorId === world.account.id && JSON.stringify(own) === text)
  const template = known ?? world.templates.create(content)
  const said = known
    ? 'Template already exists. Template ID'
    : 'Template Created Successfully! New Template ID'
  return {
    success: true,
    msg: `${said}: ${template.id}`,
    template: templateRecord(template, world.account.id),
  }
}

function remove({ world, body }: ApiRequest) {
  const fields = body()
  world.templates.remove(fields.has('hash_id') ? idOf(world, fields) : fields.integer('template_id'))
  return { success: true, msg: 'The template is gone.' }
}

function idOf(world: ApiRequest['world'], fields: Fields): number {
  const hash = fields.string('hash_id')
  const template = world.templates.visible().find(({ hashId }) => hashId === hash)
  if (!template) throw notFound(`There is no template ${hash}.`)
  return template.id
}
