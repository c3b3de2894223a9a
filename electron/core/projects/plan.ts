import type { Limit, LimitWhen } from '#contract/automation/limit.ts'
import type { OpenRequest, RentalSearch } from '#contract/market/rental.ts'
import { searchWords } from '#contract/market/search-text.ts'
import { dearestOf, portOf } from '#contract/project/bounds.ts'
import { nodeCount } from '#contract/project/engine.ts'
import type { PlannedVolume } from '#contract/project/project.ts'
import { usualMachine, usualSetup } from '#contract/project/project-defaults.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import { type Micros, micros } from '#contract/spending/money.ts'

/** Defaults for omissions in `berth.yaml`. */
const usual = { idleBelow: 5 }
/** The highest bid while no machine's price is known. */
const anyBid = micros(1000)

/** A project's search. `names`: the GPUs on the market, since `H100` means each of its variants. */
export function searchOf(
  { machine = {}, disk, nodes }: ProjectSpec,
  names: readonly string[],
  volume?: PlannedVolume,
): RentalSearch {
  const { gpu, count, vram, price, interruptible, region, verified, reliability, download, upload, cuda } =
    machine
  const gpus = gpu === undefined ? undefined : [gpu].flat()
  return {
    query: {
      type: interruptible ? 'bid' : 'on-demand',
      verifiedOnly: verified ?? usualMachine.verified,
      storage: disk ?? usualSetup.disk,
      limit: 5000,
      ...(nodeCount({ nodes }) > 1 ? { extra: { cluster_id: { neq: null } } } : {}),
      ...(volume?.machineId === undefined ? {} : { extra: { machine_id: { eq: volume.machineId } } }),
    },
    filter: {
      gpus: gpus && namesMeant(gpus, names),
      countFrom: count ?? 1,
      countTo: count ?? 1,
      priceTo: price,
      regions: region === undefined ? undefined : [region].flat().map(code => code.toUpperCase()),
      memoryFrom: vram,
      reliabilityFrom: (reliability ?? usualMachine.reliability) / 100,
      downFrom: download,
      upFrom: upload,
      cudaFrom: cuda,
    },
    order: { column: 'price', descending: false },
  }
}

function namesMeant(asked: readonly string[], names: readonly string[]): string[] {
  const meant = asked.flatMap(text => {
    const words = searchWords(text)
    const found = names.filter(name => words.every(word => searchWords(name).includes(word)))
    return found.length === 0 ? [text] : found
  })
  return [...new Set(meant)]
}

/** The request for a project's machine, under the agreed terms. `label` is its label on the account. */
export function requestOf(
  spec: ProjectSpec,
  label: string,
  { stops, price, volume }: { stops: readonly Limit[]; price?: Micros; volume?: PlannedVolume },
): OpenRequest {
  const { image, template, disk, ports = [], machine = {} } = spec
  return {
    image: image ?? (template === undefined ? usualSetup.image : ''),
    template: template === undefined ? undefined : { hash: template, name: template },
    access: 'ssh',
    direct: true,
    disk: disk ?? usualSetup.disk,
    env: [],
    ports: ports.map(port => ({ ...portOf(port), protocol: 'tcp' as const })),
    label,
    bid: machine.interruptible ? (dearestOf(spec, price) ?? anyBid) / 1_000_000 : undefined,
    ...(volume ? { volume: volumeRequest(volume) } : {}),
    stops: [...stops],
  }
}

function volumeRequest({ name, at, id, machineId, size = 0 }: PlannedVolume): OpenRequest['volume'] {
  if (id === undefined) return { create: true, name, size, mountPath: at }
  return { create: false, volume: id, machine: machineId, mountPath: at }
}

/** The limits that a project's `stop` asks for. */
export function stopsOf({ stop = {} }: ProjectSpec): Limit[] {
  const { idle, hours, dollars } = stop
  const whens: LimitWhen[] = []
  if (idle !== undefined) whens.push({ kind: 'idle', below: usual.idleBelow, seconds: idle })
  if (hours !== undefined) whens.push({ kind: 'duration', seconds: Math.max(60, hours * 3600) })
  if (dollars !== undefined) whens.push({ kind: 'cost', dollars: Math.max(0.01, dollars) })
  return whens.map(when => ({ when, action: 'stop', asleep: false }))
}

/** Names of the secrets that a project needs. */
export function secretsOf({ env = {} }: ProjectSpec): string[] {
  const secretNames = Object.values(env).flatMap(value => (typeof value === 'object' ? value.secret : []))
  return [...new Set(secretNames)]
}
