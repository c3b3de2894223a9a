import type { Offer } from '#simulator/world/market/offers.ts'
import constants from './constants.json' with { type: 'json' }

/**
 * The public deployment's fields of a machine beyond the interface, in its offers and its instances. Records this long
 * are put together by `Object.assign`: with a spread before other properties Node 20 takes forty times as long.
 */
export function machineFields(offer: Offer): Record<string, unknown> {
  const { facts, index } = offer
  const [major = 0, minor = 0, patch = 0] = facts.driver_version.split('.').map(Number)
  return Object.assign({} as Record<string, unknown>, facts, constants.machine, {
    cpu_cores: Math.max(1, Math.round(facts.cpu_cores_effective / facts.gpu_frac)),
    gpu_totalram: facts.gpu_ram * facts.num_gpus,
    gpu_total_ram: facts.gpu_ram * facts.num_gpus,
    driver_vers: major * 1_000_000 + minor * 1000 + patch,
    total_flops: totalFlops(offer),
    hosting_type: facts.static_ip ? 1 : 0,
    datacenter: facts.static_ip,
    bundle_id: index + 1,
    vericode: facts.verified ? 1 : 0,
  })
}

/** Teraflops for each dollar per hour of a record's price. */
export function flopsFor(offer: Offer, dphTotal: number): number {
  return totalFlops(offer) / dphTotal
}

function totalFlops({ facts }: Offer): number {
  return Math.round(facts.gpu_mem_bw * facts.num_gpus) / 20
}
