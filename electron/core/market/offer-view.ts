import { cleanLine } from '#core/instances/instance-view.ts'
import { believable } from '#core/instances/spending.ts'
import { trafficPrices, validPrice } from '#core/instances/traffic.ts'
import type { Offer, OfferSearch } from '#service/offers.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OfferQuery } from '#shared/market/offer-query.ts'

/** The search for a query: offers that can be rented now, cheapest first, with its extra conditions. */
export function searchFor({ type, verifiedOnly, storage, limit, extra }: OfferQuery): OfferSearch {
  return {
    type,
    limit,
    allocatedStorage: storage,
    order: [['dph_total', 'asc']],
    filters: {
      ...(extra as OfferSearch['filters']),
      rentable: { eq: true },
      rented: { eq: false },
      ...(verifiedOnly ? { verified: { eq: true } } : {}),
    },
  }
}

/** An offer's record for State and the page. */
export function offerView(offer: Offer): OfferView {
  return {
    id: offer.id,
    gpuName: cleanLine(offer.gpu_name),
    gpuCount: offer.num_gpus,
    gpuMemory: offer.gpu_ram,
    price: believable(offer.dph_total ?? offer.dph_base),
    minimumBid: believable(offer.min_bid),
    storagePrice: storagePrice(offer),
    storageCost: validPrice(offer.storage_cost),
    score: offer.dlperf,
    scorePerDollar: offer.dlperf_per_dphtotal,
    compute: offer.total_flops,
    gpuBandwidth: offer.gpu_mem_bw,
    nvlink: offer.bw_nvlink,
    pcie: pcie(offer),
    driver: cleanLine(offer.driver_version),
    cpuName: cleanLine(offer.cpu_name),
    cpuCores: offer.cpu_cores_effective,
    memory: offer.cpu_ram,
    disk: offer.disk_space,
    diskName: cleanLine(offer.disk_name),
    diskBandwidth: offer.disk_bw,
    down: offer.inet_down,
    up: offer.inet_up,
    ...trafficPrices(offer),
    reliability: offer.reliability2,
    verified: offer.verification === undefined ? undefined : offer.verification === 'verified',
    location: cleanLine(offer.geolocation),
    directPorts: offer.direct_port_count,
    staticIp: offer.static_ip,
    datacenter: offer.datacenter,
    lasts: offer.duration,
    cuda: offer.cuda_max_good,
    machineId: offer.machine_id,
    hostId: offer.host_id,
    clusterId: offer.cluster_id,
    bundleId: offer.bundle_id,
    volumeOffer: offer.avail_vol_ask_id,
    volumeRoom: offer.avail_vol_size,
  }
}

function pcie({ pci_gen, gpu_lanes, pcie_bw }: Offer): OfferView['pcie'] {
  if (pci_gen === undefined && gpu_lanes === undefined && pcie_bw === undefined) return undefined
  return { generation: pci_gen, lanes: gpu_lanes, bandwidth: pcie_bw }
}

function storagePrice({ storage_total_cost, dph_total, dph_base }: Offer): number | undefined {
  const between = dph_total === undefined || dph_base === undefined ? undefined : dph_total - dph_base
  return believable(storage_total_cost ?? (between === undefined ? undefined : Math.max(0, between)))
}
