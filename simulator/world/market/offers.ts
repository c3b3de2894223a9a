import { Draw } from '../draw.ts'
import { micro } from '../money.ts'
import machines from './machines.json' with { type: 'json' }

/**
 * A GPU model on the market: the figures of its data sheet, a benchmark score and a usual price in dollars per GPU and
 * hour. Its memory is in MB, its bandwidth in GB/s, and its capability times 100. Data-centre cards are in servers with
 * many ports and fast connections. Two memory sizes of one model share its name.
 */
type GpuModel = (typeof machines.gpus)[number]

/** The constant part of an offer, under the market's names. Units: MB, GB/s, Mb/s, GB, dollars, seconds. */
export type OfferFacts = ReturnType<typeof machineFacts> &
  Record<'id' | 'num_gpus' | 'gpu_frac' | 'dlperf', number>

/** An offer: a share of a machine, its price, and whether someone rents it. */
export interface Offer {
  readonly facts: OfferFacts
  /** Its place in the catalogue. */
  readonly index: number
  /** Micro-dollars per hour for its GPUs, on demand. */
  readonly price: number
  /** The lowest bid that runs, in micro-dollars per hour. */
  readonly minBid: number
  rented: boolean
  /** How often it was rented so far, which determines the next instance's id. */
  rentals: number
}

/** The catalogue: `count` offers from the seed; a longer one begins with the shorter one. */
export function catalogue(seed: number, count: number): Offer[] {
  const offers: Offer[] = []
  const firstId = new Draw(seed, 'offer ids').integer(10_000_000, 19_000_000)
  for (let machine = 0; offers.length < count; machine++) {
    for (const offer of machineOffers(seed, machine, firstId, offers.length)) offers.push(offer)
  }
  return offers.slice(0, count)
}

/** The disjoint shares in which a machine of so many GPUs is offered. */
function shares(draw: Draw, gpus: number): number[] {
  if (gpus >= 8) return draw.pick<number[]>([[8], [8], [4, 4], [4, 2, 1, 1], [2, 2, 2, 2]])
  if (gpus === 4) return draw.pick<number[]>([[4], [2, 2], [2, 1, 1], [1, 1, 1, 1]])
  if (gpus === 2) return draw.pick<number[]>([[2], [1, 1]])
  return [1]
}

function machineOffers(seed: number, machine: number, firstId: number, firstIndex: number): Offer[] {
  const draw = new Draw(seed, 'machine', machine)
  const model = draw.weighted(machines.gpus)
  const gpus = draw.pick(model.counts)
  const common = { ...machineFacts(draw, machine, model, gpus), ...clusterOf(seed, machine, model) }
  const verified = common.verification === 'verified'
  const asked = model.price * draw.between(0.8, 1.25) * (verified ? 1.04 : 0.93)
  const bidShare = draw.between(0.42, 0.72)
  return shares(draw, gpus).map((count, position) => {
    const index = firstIndex + position
    const price = micro(round(asked * count * draw.between(0.99, 1.01), 4))
    return {
      index,
      price,
      minBid: Math.max(1000, Math.round((price * bidShare) / 1000) * 1000),
      rented: false,
      rentals: 0,
      facts: {
        ...common,
        id: firstId + index * 13 + draw.integer(0, 12),
        num_gpus: count,
        gpu_frac: count / gpus,
        cpu_cores_effective: round((common.cpu_cores_effective * count) / gpus, 1),
        cpu_ram: Math.round((common.cpu_ram * count) / gpus),
        disk_space: round((common.disk_space * count) / gpus, 1),
        direct_port_count: Math.max(1, Math.floor((common.direct_port_count * count) / gpus)),
        dlperf: round(model.score * count * draw.between(0.94, 1.04) * (count > 1 ? 0.97 : 1), 2),
      },
    }
  })
}

/** The common facts of all shares of a machine; amounts are the whole machine's. */
function machineFacts(draw: Draw, machine: number, model: GpuModel, gpus: number) {
  const driver = draw.weighted(
    model.capability >= 1000 || draw.chance(0.4) ? machines.newDrivers : machines.drivers,
  )
  const processor = draw.pick(
    model.server || gpus > 2 ? machines.serverProcessors : machines.desktopProcessors,
  )
  const verification = draw.weighted([
    { name: 'verified', weight: 72 },
    { name: 'unverified', weight: 24 },
    { name: 'deverified', weight: 4 },
  ] as const).name
  const reliability = round(
    verification === 'verified' ? draw.between(0.97, 0.9995) : draw.between(0.82, 0.99),
    4,
  )
  const line = draw.pick(model.server ? [1000, 2500, 5000, 10_000] : [200, 500, 900, 1000])
  return {
    machine_id: 10_000 + machine * 3 + draw.integer(0, 2),
    host_id: 50_000 + draw.integer(0, 399) * 17,
    gpu_name: model.name,
    gpu_ram: model.memory,
    gpu_mem_bw: round(model.bandwidth * draw.between(0.87, 0.95), 1),
    cuda_max_good: driver.cuda,
    driver_version: driver.version,
    compute_cap: model.capability,
    cpu_name: processor.name,
    cpu_cores_effective: processor.cores,
    cpu_ram: draw.pick<number>(model.server ? [262_144, 524_288, 1_048_576] : [65_536, 131_072, 262_144]),
    disk_space: round(
      draw.between(model.server ? 1500 : 300, model.server ? 14_000 : 3600) * Math.sqrt(gpus),
      1,
    ),
    disk_bw: round(draw.between(model.server ? 1800 : 500, model.server ? 7000 : 4200), 1),
    storage_cost: draw.pick<number>([0.08, 0.1, 0.1, 0.12, 0.15, 0.2]),
    inet_up: round(line * draw.between(0.4, 0.98), 1),
    inet_down: round(line * draw.between(0.55, 0.99), 1),
    inet_up_cost: draw.pick<number>([0, 0.001, 0.003, 0.005, 0.01]),
    inet_down_cost: draw.pick<number>([0, 0.001, 0.002, 0.005, 0.01]),
    reliability2: reliability,
    reliability,
    verification,
    verified: verification === 'verified',
    geolocation: draw.weighted(machines.regions).geolocation,
    static_ip: draw.chance(model.server ? 0.9 : 0.45),
    direct_port_count: draw.pick<number>(model.server ? [250, 500, 999] : [1, 10, 50, 100, 250]),
    duration: draw.integer(2, 120) * 86_400,
    cluster_id: null as number | null,
  }
}

/** How many machines in a row have their clusters to themselves. */
const clusterSpan = 400

/**
 * The host's local network that a machine is in, if any: in each span of machines, those of some GPU models. All
 * machines of a cluster have one host and place.
 */
function clusterOf(seed: number, machine: number, model: GpuModel) {
  const place = machines.gpus.indexOf(model)
  const span = Math.floor(machine / clusterSpan)
  const draw = new Draw(seed, 'cluster', span * machines.gpus.length + place)
  if (!draw.chance(model.server ? 0.4 : 0.3)) return {}
  return {
    cluster_id: 1 + span * machines.gpus.length + place,
    host_id: 50_000 + draw.integer(0, 399) * 17,
    geolocation: draw.weighted(machines.regions).geolocation,
  }
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
