import type { Fields } from '../fields.ts'
import { isObject } from '../fields.ts'
import { contentDefaults, type TemplateContent } from '../world/templates/template.ts'

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

/** Reads the given fields of an edit or a creation. Throws 400 `invalid_args`. */
export function readChanges(body: Fields): Partial<TemplateContent> {
  const changes: Partial<TemplateContent> = {}
  for (const name of texts) if (body.has(name)) changes[name] = body.string(name)
  for (const name of switches) if (body.has(name)) changes[name] = body.boolean(name)
  for (const name of ['name', 'image'] as const) {
    if (changes[name]?.trim() === '') throw body.refuse(`${name} must not be empty.`)
  }
  if (/\s/.test(changes.image ?? '')) throw body.refuse('image must name a Docker image.')
  if (body.has('runtype')) changes.runtype = readRuntype(body)
  if (body.has('jupyter_dir')) {
    changes.jupyter_dir = body.values['jupyter_dir'] === null ? null : body.string('jupyter_dir')
  }
  if (body.has('volume_info')) {
    changes.volume_info = body.values['volume_info'] === null ? null : body.object('volume_info')
  }
  if (body.has('extra_filters')) changes.extra_filters = readExtraFilters(body)
  if (body.has('recommended_disk_space')) changes.recommended_disk_space = readDisk(body)
  return changes
}

const texts = [
  'name',
  'image',
  'tag',
  'desc',
  'readme',
  'env',
  'onstart',
  'args_str',
  'docker_login_repo',
  'docker_login_user',
  'docker_login_pass',
  'href',
  'repo',
] as const

const switches = ['ssh_direct', 'use_ssh', 'jup_direct', 'use_jupyter_lab', 'private'] as const

function readRuntype(body: Fields): TemplateContent['runtype'] {
  const runtype = body.string('runtype')
  if (runtype === 'ssh' || runtype === 'jupyter' || runtype === 'args') return runtype
  throw body.refuse('runtype must be ssh, jupyter or args.')
}

function readExtraFilters(body: Fields): TemplateContent['extra_filters'] {
  const filters = body.object('extra_filters')
  if (!Object.values(filters).every(isObject)) {
    throw body.refuse('extra_filters must have the shape {field: {operator: value}}.')
  }
  return filters
}

function readDisk(body: Fields): number {
  const disk = body.number('recommended_disk_space')
  if (disk <= 0) throw body.refuse('recommended_disk_space must be above 0.')
  return disk
}
