import { number, readForm } from '#renderer/components/fields/readForm.ts'
import { type Capabilities, describedCapabilities } from '#shared/account/capabilities.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { usualRecovery } from '#shared/automation/recovery.ts'
import { diskRoom } from '#shared/format/size.ts'
import type { OfferView } from '#shared/market/offer.ts'
import {
  isIdentityPort,
  type JupyterRequest,
  type RegistryLogin,
  RentRequest,
  startScriptTooLong,
  watchdogFrom,
} from '#shared/market/rent-request.ts'
import { isAsleep } from '../limits/rentalLimits.ts'
import type { EnvRow, RentDraft, VolumeDraft } from './rentDraft.ts'
import { overridden, type RentTemplate } from './rentTemplate.ts'

/**
 * A message per field: `image`, `disk`, `ports`, `bid`, `recovery`, `onstart`, `args`, `volume`, `label`, `traffic`, `template`, `jupyter`,
 * `registry.<field>`, `env` or `env.<key of the row>`.
 */
export type RentErrors = Record<string, string>

export type ReadDraft = { request: RentRequest } | { errors: RentErrors }

/** Secrets with stored values; if left empty, they stay unchanged. */
export interface StoredSecrets {
  /** Names of variables. */
  secrets: ReadonlySet<string>
  /** The login whose token it is. */
  registry?: RegistryLogin
}

/**
 * The request of a draft, or its errors by field. Values equal to the template's are left to the template; an empty
 * text in its place is sent, since it overrides.
 */
export function readDraft(
  draft: RentDraft,
  offer: OfferView,
  interruptible: boolean,
  template?: RentTemplate,
  stored: StoredSecrets = { secrets: new Set() },
  capabilities = describedCapabilities,
): ReadDraft {
  const rows = sentRows(draft)
  const own = overridden(draft, template)
  const leftToTemplate = (field: 'image' | 'onstart' | 'args') =>
    template?.values !== undefined && !own.includes(field)
  // A template's own script goes with the request where a watchdog is to come before it.
  const bringsWatchdog =
    template?.values !== undefined &&
    isAsleep(draft.limits) &&
    watchdogFrom({ ...draft, template }, capabilities) === 'start'
  const errors: RentErrors = {}
  const ports = readPorts(draft.ports, capabilities)
  if (ports.error !== undefined) errors['ports'] = ports.error
  const tooLong = leftToTemplate('onstart') ? undefined : startScriptTooLong(draft.onstart, capabilities)
  if (tooLong !== undefined) errors['onstart'] = tooLong
  Object.assign(errors, rowErrors(rows, stored.secrets))
  const registry = readRegistry(draft.registry)
  if (registry) Object.assign(errors, registryErrors(registry, stored.registry))

  const read = readForm(
    RentRequest,
    {
      offer: offer.id,
      image: leftToTemplate('image') ? '' : draft.image,
      access: draft.access,
      direct: draft.access === 'none' || draft.direct ? undefined : false,
      jupyter: draft.access === 'jupyter' && (!template || template.values) ? readJupyter(draft) : undefined,
      registry,
      disk: number(draft.disk),
      env: rows.map(row => ({ name: row.name.trim(), value: row.value, secret: row.secret })),
      ports: ports.list,
      onstart:
        bringsWatchdog ||
        !(leftToTemplate('onstart') || (draft.onstart.trim() === '' && !own.includes('onstart')))
          ? draft.onstart
          : undefined,
      template: template ? { hash: template.hash, name: template.name.slice(0, 256) } : undefined,
      args:
        draft.access !== 'none' ||
        leftToTemplate('args') ||
        (draft.args.trim() === '' && !own.includes('args'))
          ? undefined
          : draft.args,
      volume: draft.volume.mode === 'none' ? undefined : readVolume(draft.volume),
      label: draft.label.trim() === '' ? undefined : draft.label.trim(),
      traffic: draft.traffic.trim() === '' ? undefined : number(draft.traffic),
      bid: interruptible ? number(draft.bid) : undefined,
      recovery: interruptible && draft.recovery !== 'tell' ? readRecovery(draft) : undefined,
      limits: draft.limits.length === 0 ? undefined : limitsOf(draft),
    },
    path => fieldOfPath(path, rows),
  )
  const all = { ...(read.errors ?? offerErrors(read.value, offer)), ...errors }
  return read.errors || Object.keys(all).length > 0 ? { errors: all } : { request: read.value }
}

/** Without SSH no watchdog can keep them. */
function limitsOf({ access, limits }: RentDraft): readonly Limit[] {
  if (access !== 'none') return limits
  return limits.map(limit => (limit.when.kind === 'away' ? limit : { ...limit, asleep: false }))
}

function readJupyter({ jupyterLab, jupyterFolder }: RentDraft): JupyterRequest {
  return { lab: jupyterLab, folder: jupyterFolder.trim() }
}

/** Undefined while nothing of it is filled in. */
function readRegistry({ server, user, token }: RegistryLogin): RegistryLogin | undefined {
  const login = { server: server.trim(), user: user.trim(), token: token.trim() }
  return Object.values(login).some(text => text !== '') ? login : undefined
}

function registryErrors(login: RegistryLogin, stored: RegistryLogin | undefined): RentErrors {
  const { server, user, token } = login
  const isKept = stored?.server === server && stored.user === user
  return {
    ...(server === '' && { 'registry.server': 'Enter the registry, such as ghcr.io or docker.io.' }),
    ...(user === '' && { 'registry.user': 'Enter the user of this token.' }),
    ...(token === '' && !isKept && { 'registry.token': 'Enter the token. Secrets aren’t remembered.' }),
  }
}

function readRecovery({ recovery: kind, ceiling }: RentDraft) {
  const { every, limits } = usualRecovery
  return { kind, ceiling: number(ceiling), every, ...(kind === 'replace' ? { limits } : {}) }
}

function readVolume({ mode, volume, name, size, mountPath }: VolumeDraft) {
  if (mode === 'link') return { create: false, volume: number(volume), mountPath }
  return { create: true, name: name.trim() || undefined, size: number(size), mountPath }
}

export const noVolumeRoom = 'This machine offers no room for a new volume.'

/** GB that a new volume may have on the offer's machine; on one that isn't known yet, any. */
export function volumeRoom({
  machineId,
  volumeOffer,
  volumeRoom: room = Number.POSITIVE_INFINITY,
}: OfferView): number {
  return machineId === undefined || volumeOffer !== undefined ? room : 0
}

/** What is wrong with the request on this machine alone. */
function offerErrors(request: RentRequest, offer: OfferView): RentErrors {
  if (offer.disk !== undefined && request.disk > offer.disk) {
    return { disk: `This machine offers ${diskRoom(offer.disk)}.` }
  }
  const { bid, recovery, registry, volume } = request
  const room = volumeRoom(offer)
  if (volume?.create && room < volume.size)
    return { volume: room < 1 ? noVolumeRoom : `This machine has ${diskRoom(room)} for a volume.` }
  if (recovery?.kind === 'raise' && bid !== undefined && recovery.ceiling <= bid)
    return { recovery: 'Enter more than your bid.' }
  if (recovery?.kind === 'replace' && registry)
    return { recovery: 'Can’t move with a registry login: its token isn’t stored.' }
  return {}
}

function rowErrors(rows: readonly EnvRow[], storedNames: ReadonlySet<string>): RentErrors {
  const errors: RentErrors = {}
  const names = new Set<string>()
  for (const { key, name, value, secret } of rows) {
    const bare = name.trim()
    if (bare === '') errors[`env.${key}`] = 'Enter a name.'
    else if (bare === 'BERTH_RENTAL') errors[`env.${key}`] = 'Berth uses this name itself. Choose another.'
    else if (names.has(bare)) errors[`env.${key}`] = `${bare} is set twice.`
    else if (secret && value === '' && !storedNames.has(bare))
      errors[`env.${key}`] = `Enter the value of ${bare}. Secrets aren’t remembered.`
    names.add(bare)
  }
  return errors
}

function readPorts(
  text: string,
  { takesIdentityPorts }: Capabilities,
): { list: RentRequest['ports']; error?: string } {
  const list: RentRequest['ports'] = []
  for (const word of text.split(/[\s,;]+/).filter(each => each !== '')) {
    const match = /^(?:(\d+):)?(\d+)(?:\/(tcp|udp))?$/i.exec(word)
    if (!match) return { list, error: `“${word}” is not a port: write 8080, 9000:80 or 53/udp.` }
    const container = Number(match[2])
    const outside = Number(match[1] ?? container)
    const protocol = match[3]?.toLowerCase() === 'udp' ? 'udp' : 'tcp'
    const isIdentity = takesIdentityPorts && container === outside && isIdentityPort(container)
    if (!isIdentity && [container, outside].some(port => port < 1 || port > 65_535))
      return { list, error: `${word}: ports go from 1 to 65535.` }
    const same = list.find(each => each.protocol === protocol && (each.outside ?? each.container) === outside)
    if (same && same.container !== container)
      return { list, error: `${outside} can’t map to two container ports.` }
    if (!same) list.push({ container, protocol, outside: outside === container ? undefined : outside })
  }
  return list.length > 64 ? { list, error: 'At most 64 ports.' } : { list }
}

/**
 * The field of the form that a path of the request is about, such as that of a Problem that came back: rows of
 * the environment by their key, since empty ones were not sent. '' when it is about none of them.
 */
export function fieldOfPath(path: string, sentRows: readonly EnvRow[]): string {
  const bare = path.replace(/^request\./, '')
  const [field = '', index] = bare.split('.')
  if (field === 'env') {
    const row = index === undefined ? undefined : sentRows[Number(index)]
    return row ? `env.${row.key}` : 'env'
  }
  if (field === 'registry') return index === undefined ? 'registry.server' : bare
  return formFields.includes(field) ? field : ''
}

const formFields = [
  'image',
  'access',
  'jupyter',
  'disk',
  'ports',
  'traffic',
  'onstart',
  'args',
  'volume',
  'template',
  'label',
  'bid',
  'recovery',
]

/** The rows that are sent. */
export function sentRows(draft: RentDraft): EnvRow[] {
  return draft.env.filter(row => row.name.trim() !== '' || row.value !== '')
}
