import { invalidArgs } from '../errors.ts'
import { type Fields, isObject, type JsonObject } from '../fields.ts'
import type { Launch, VolumeRequest } from '../world/instances/instance.ts'
import { micro } from '../world/money.ts'
import { contentDefaults, type Template } from '../world/templates/template.ts'
import type { Templates } from '../world/templates/templates.ts'

/** Dollars per hour, section 8. */
const HIGHEST_BID = 32

/** What a deployment allows in a creation. */
export interface LaunchLimits {
  /** Dollars per hour. */
  highestBid: number
  mostPorts: number
  /** Whether ports from 70000 on stand for any that is the same inside and outside. */
  identityPorts: boolean
  /** Characters of a start script. */
  longestScript: number
}

const interfaceLimits: LaunchLimits = {
  highestBid: HIGHEST_BID,
  mostPorts: Number.POSITIVE_INFINITY,
  identityPorts: false,
  longestScript: Number.POSITIVE_INFINITY,
}

/** GB if neither the request nor the template says (section 8). */
const DEFAULT_DISK = 8

const runtypeWords = new Set([
  'ssh',
  'jupyter',
  'args',
  'ssh_proxy',
  'ssh_direc',
  'ssh_direct',
  'jupyter_proxy',
  'jupyter_direc',
  'jupyter_direct',
])

/**
 * Reads the body of a creation and merges it with its template as section 4.2 says. Throws 400
 * `invalid_args`, also for `template_id` and for a `template_hash_id` that no template has (any more).
 */
export function readLaunch(body: Fields, templates: Templates, limits = interfaceLimits): Launch {
  if (body.has('template_id')) throw invalidArgs('Use template_hash_id: template_id is not accepted here.')
  const template = readTemplate(body, templates)
  checkOverrides(body)
  const merged = body.with({ ...template?.content, ...body.values })
  const disk =
    merged.optionalNumber('disk') ?? merged.optionalNumber('recommended_disk_space') ?? DEFAULT_DISK
  if (disk <= 0) throw invalidArgs('disk must be above 0.')
  const onstart = merged.optionalString('onstart') ?? ''
  if (onstart.length > limits.longestScript)
    throw invalidArgs(`onstart has at most ${limits.longestScript} characters.`)
  return {
    image: readImage(body, template),
    disk,
    runtype: readRuntype(merged.optionalString('runtype') ?? 'args'),
    onstart,
    env: readMergedEnv(body, template, limits),
    label: body.optionalString('label') ?? '',
    bid: body.has('price') ? readBid(body, limits.highestBid) : null,
    cancelUnavailable: body.optionalBoolean('cancel_unavail') ?? false,
    targetState: readTargetState(body.optionalString('target_state')),
    template: template ? { hashId: template.hashId, name: template.content.name } : null,
    volume: readVolume(body),
    registry: readRegistry(merged),
    extraFilters: { ...template?.content.extra_filters, ...body.optionalObject('extra_filters') },
  }
}

/** A bid in micro-dollars per hour. Throws 400 `invalid_args` below 0.001 dollars and above the highest. */
export function readBid(body: Fields, highest = HIGHEST_BID): number {
  const price = body.number('price')
  if (price < 0.001 || price > highest) {
    throw invalidArgs(`price must be from 0.001 to ${highest.toFixed(1)} dollars per hour.`)
  }
  return micro(price)
}

function readTemplate(body: Fields, templates: Templates): Template | null {
  const hash = body.optionalString('template_hash_id')
  if (hash === undefined) return null
  const template = templates.find(hash)
  if (!template) throw invalidArgs(`template_hash_id: there is no template ${hash}.`)
  return template
}

/** Fields of a template may come as overrides; those must have the types of its defaults, where null stays null too. */
function checkOverrides(body: Fields): void {
  for (const [name, usual] of Object.entries({ name: '', image: '', ...contentDefaults })) {
    if (!body.has(name) || name === 'env') continue
    const value = body.values[name]
    if (usual === null && value === null) continue
    const wanted = usual === null ? nullableTypes[name] : typeof usual
    if (wanted === 'object' ? !isObject(value) : typeof value !== wanted) {
      throw invalidArgs(`${name} must be a ${wanted}.`)
    }
  }
}

/** The types of the fields that are null by default. */
const nullableTypes: Readonly<Record<string, string>> = { jupyter_dir: 'string', volume_info: 'object' }

/** The image with its tag: the template's tag belongs to the template's image only. */
function readImage(body: Fields, template: Template | null): string {
  const own = body.optionalString('image')
  const image = own ?? template?.content.image ?? ''
  if (image.trim() === '' || /\s/.test(image)) throw invalidArgs('image must name a Docker image.')
  const tag = body.optionalString('tag') ?? (own === undefined ? (template?.content.tag ?? '') : '')
  const hasTag = image.lastIndexOf(':') > image.lastIndexOf('/') || image.includes('@')
  return hasTag || tag === '' ? image : `${image}:${tag}`
}

/** The registry of a login, which needs all three parts. */
function readRegistry(fields: Fields): string | null {
  const [registry = '', ...rest] = ['repo', 'user', 'pass'].map(
    part => fields.optionalString(`docker_login_${part}`) ?? '',
  )
  return registry === '' || rest.includes('') ? null : registry
}

function readRuntype(runtype: string): string {
  const words = runtype.split(' ')
  if (!words.every(word => runtypeWords.has(word))) throw invalidArgs(`There is no runtype ${runtype}.`)
  return runtype
}

function readTargetState(state: string | undefined): 'running' | 'stopped' {
  if (state === undefined || state === 'running') return 'running'
  if (state === 'stopped') return 'stopped'
  throw invalidArgs('target_state must be running or stopped.')
}

function readVolume(body: Fields): VolumeRequest | null {
  if (!body.has('volume_info') || body.values['volume_info'] === null) return null
  const volume = body.with(body.object('volume_info'))
  const createNew = volume.boolean('create_new')
  const size = createNew ? volume.number('size') : null
  if (size !== null && size <= 0) throw invalidArgs('volume_info: size must be above 0.')
  const mountPath = volume.string('mount_path')
  if (!mountPath.startsWith('/')) throw invalidArgs('volume_info: mount_path must be an absolute path.')
  return { createNew, volumeId: volume.integer('volume_id'), size, mountPath }
}

function readMergedEnv(
  body: Fields,
  template: Template | null,
  { mostPorts, identityPorts }: LaunchLimits,
): Record<string, string> {
  const own = readEnv(body.optionalObject('env') ?? {}, identityPorts)
  const env = { ...flagsToEnv(template?.content.env ?? ''), ...own }
  if (mappedPorts(env).length > mostPorts) throw invalidArgs(`env maps at most ${mostPorts} ports.`)
  return env
}

const portMapping = /^-p (\d{1,5}):(\d{1,5})(\/(tcp|udp))?$/
/** From here on a number stands for any port that is the same inside and outside. */
const FIRST_IDENTITY_PORT = 70_000
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Reads `env` of a creation: names to values, port mappings as keys `-p host:container`, where a deployment has
 * `identityPorts` also from 70000 on. Values may be strings, numbers or booleans. Throws 400 `invalid_args`.
 */
export function readEnv(env: JsonObject, identityPorts = false): Record<string, string> {
  const isMapping = (name: string) => isPortMapping(name) || (identityPorts && isIdentityMapping(name))
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (name.startsWith('-p') ? !isMapping(name) : !name.startsWith('-') && !variableName.test(name)) {
        throw invalidArgs(`env: ${name} is neither a variable's name nor a port mapping.`)
      }
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw invalidArgs(`env: the value of ${name} must be a string.`)
      }
      return [name, String(value)]
    }),
  )
}

/** The container ports that an environment maps, as `8080/tcp`. */
export function mappedPorts(env: Record<string, string>): string[] {
  return Object.keys(env).flatMap(name => {
    const match = portMapping.exec(name)
    return match ? [`${match[2]}/${match[4] ?? 'tcp'}`] : []
  })
}

/** The variables of an environment, without its port mappings and other flags. */
export function environmentVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('-')))
}

/** Whether the container is to see the same number as the outside, whatever that is. */
export function isIdentityPort(port: string): boolean {
  return Number.parseInt(port, 10) >= FIRST_IDENTITY_PORT
}

/** Turns the Docker flags of a template (`-e NAME=value -p 8080:8080`) into the object form of a creation. */
export function flagsToEnv(flags: string): Record<string, string> {
  const words = splitWords(flags)
  const env: Record<string, string> = {}
  for (let index = 0; index < words.length; index += 2) {
    const flag = words[index] ?? ''
    const value = words[index + 1] ?? ''
    const equals = value.indexOf('=')
    if (flag === '-e' && equals > 0) env[value.slice(0, equals)] = value.slice(equals + 1)
    else if (flag !== '-e') env[`${flag} ${value}`] = '1'
  }
  return env
}

function isPortMapping(name: string): boolean {
  const match = portMapping.exec(name)
  return match !== null && [match[1], match[2]].every(port => Number(port) > 0 && Number(port) < 65_536)
}

function isIdentityMapping(name: string): boolean {
  const [, host, container = ''] = portMapping.exec(name) ?? []
  return host === container && isIdentityPort(container)
}

/** Words as a shell splits them, quotes taken off. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:[^\s"']|"(?:\\[\s\S]?|[^"\\])*"?|'[^']*')+/g) ?? []
  return words.map(word =>
    word.replace(/"((?:\\[\s\S]?|[^"\\])*)"?|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
    ),
  )
}
