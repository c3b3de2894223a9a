import type { Offer } from '#simulator/world/market/offers.ts'

/**
 * The public deployment's fields of a machine beyond the interface, in its offers and its instances. Records this long
 * are put together by `Object.assign`: with a spread before other properties Node 20 takes forty times as long.
 */
export function machineFields(offer: Offer): Record<string, unknown> {
  const { facts, index } = offer
  const [major = 0, minor = 0, patch = 0] = facts.driver_version.split('.').map(Number)
  return Object.assign({} as Record<string, unknown>, facts, {
    cpu_arch: 'amd64',
    cpu_cores: Math.max(1, Math.round(facts.cpu_cores_effective / facts.gpu_frac)),
    cpu_ghz: 3.2,
    gpu_arch: 'nvidia',
    gpu_totalram: facts.gpu_ram * facts.num_gpus,
    gpu_total_ram: facts.gpu_ram * facts.num_gpus,
    gpu_lanes: 16,
    gpu_max_power: 350,
    gpu_max_temp: 90,
    bw_nvlink: 0,
    gpu_display_active: false,
    disk_name: 'Samsung SSD 980',
    driver_vers: major * 1_000_000 + minor * 1000 + patch,
    has_avx: 1,
    mobo_name: 'Z790 Gaming',
    os_version: '22.04',
    pci_gen: 4,
    pcie_bw: 24.5,
    total_flops: totalFlops(offer),
    vram_costperhour: 0.0000494,
    public_ipaddr: '192.0.2.45',
    hosting_type: facts.static_ip ? 1 : 0,
    datacenter: facts.static_ip,
    bundle_id: index + 1,
    host_run_time: 2_592_000,
    webpage: null,
    logo: '/static/logo.png',
    vericode: facts.verified ? 1 : 0,
    vms_enabled: false,
  })
}

/** Teraflops for each dollar per hour of a record's price. */
export function flopsFor(offer: Offer, dphTotal: number): number {
  return totalFlops(offer) / dphTotal
}

function totalFlops({ facts }: Offer): number {
  return Math.round(facts.gpu_mem_bw * facts.num_gpus) / 20
}
