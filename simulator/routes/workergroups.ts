import { invalidArgs } from '../errors.ts'
import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { epochSeconds } from '../world/clock.ts'
import type { Workergroup } from '../world/workergroups/workergroups.ts'
import type { World } from '../world/world.ts'

/** Section 4.6: workergroups. Listing them is beyond the interface. */
export const workergroupRoutes: Routes = {
  'GET /workergroups/': {
    permission: 'misc',
    answer: ({ world }) => ({
      success: true,
      workergroups: world.workergroups.list().map(group => workergroupRecord(group, world.account.id)),
    }),
  },
  'POST /workergroups/': { permission: 'misc', answer: create },
}

const DEFAULT_SEARCH = 'verified=true rentable=true rented=false'

function create({ world, body }: ApiRequest) {
  const fields = body()
  const name = fields.optionalString('endpoint_name')
  const endpointId = fields.optionalInteger('endpoint_id')
  const content = {
    ...readTemplate(world, fields),
    search_params: fields.optionalString('search_params') ?? DEFAULT_SEARCH,
    launch_args: fields.optionalString('launch_args') ?? '',
    min_load: readAmount(fields, 'min_load') ?? 1,
    target_util: readAmount(fields, 'target_util') ?? null,
  }
  const endpoint = {
    endpoint_name: name ?? null,
    endpoint_id: endpointId ?? world.workergroups.endpoint(name),
  }
  const group = world.workergroups.create({ ...content, ...endpoint })
  return { success: true, ...workergroupRecord(group, world.account.id) }
}

/** `template_hash` and `template_id` are alternatives, and must name an existing template. */
function readTemplate(world: World, fields: Fields) {
  const hash = fields.optionalString('template_hash')
  const id = fields.optionalInteger('template_id')
  if (hash !== undefined && !world.templates.find(hash)) throw invalidArgs(`There is no template ${hash}.`)
  if (id !== undefined && !world.templates.visible().some(template => template.id === id)) {
    throw invalidArgs(`There is no template ${id}.`)
  }
  return { template_hash: hash ?? null, template_id: id ?? null }
}

function readAmount(fields: Fields, name: string): number | undefined {
  const amount = fields.optionalNumber(name)
  if (amount !== undefined && amount < 0) throw fields.refuse(`${name} must not be negative.`)
  return amount
}

function workergroupRecord({ created, ...group }: Workergroup, userId: number): Record<string, unknown> {
  return { ...group, user_id: userId, created_at: epochSeconds(created) }
}
