import { money } from '../format/money.ts'
import { gpuWords } from '../format/name.ts'
import { count, figure } from '../format/size.ts'
import type { Micros } from '../spending/money.ts'
import type { Field } from './offer-field.ts'
import {
  bareRate,
  eachAndTotal,
  joinedWords,
  known,
  offerName,
  pcieWords,
  roundedMegabytes,
  totalMemory,
  totalMemoryWords,
  unknownCell,
  wholeGigabytes,
} from './offer-words.ts'

/** What an offer's GPUs are and cost. */
export interface OfferedGpus {
  id: number
  machineId?: number
  hostId?: number
  /** The cluster of machines that share a local network; absent for a machine outside any cluster. */
  clusterId?: number
  /** The service's id of machines like it, for which it recommends a bid. */
  bundleId?: number
  gpuName?: string
  gpuCount?: number
  /** MB per GPU. */
  gpuMemory?: number
  /** Micro-dollars per hour, with the storage asked for. */
  price?: Micros
  /** Micro-dollars per hour: the lowest bid that runs now, disk not included. */
  minimumBid?: Micros
  score?: number
  scorePerDollar?: number
  /** TFLOPS of all GPUs. */
  compute?: number
  /** GB/s of one GPU's memory. */
  gpuBandwidth?: number
  /** GB/s between two GPUs; 0 where they have no NVLink. */
  nvlink?: number
  /** Generation, lanes and GB/s of a GPU's PCIe link. */
  pcie?: { generation?: number; lanes?: number; bandwidth?: number }
}

/** An offer with the prices that follow from its search. */
export interface Priced<Offer> {
  readonly offer: Offer
  /** Micro-dollars per hour: on demand with storage; interruptible: lowest bid and storage. */
  readonly price: Micros | undefined
  /** Micro-dollars per hour for one of its GPUs. */
  readonly pricePerGpu: Micros | undefined
}

/** The fields of the GPUs, of which columns are the first, in the order in which they're shown. */
export const gpuFields = {
  number: {
    search: ({ id, machineId, hostId }) =>
      joinedWords(' ', `${id}`, known(machineId, String), known(hostId, String)),
    cli: { title: '>OFFER', words: ({ id }) => String(id) },
  },
  gpu: {
    column: {
      title: 'GPU',
      width: 116,
      isText: true,
      order: ({ offer: { gpuName, gpuCount = 0 } }) => gpuName && `${gpuName} ${gpuCount}`,
      cell: listed => ({ text: offerName(listed), more: offerName(listed) }),
    },
    // Its name also as one word: RTX4090.
    search: ({ gpuName = '', gpuCount = 1 }) => `${gpuCount} × ${gpuName} ${gpuName.replaceAll(' ', '')}`,
    cli: { title: 'GPU', words: gpuWords },
  },
  memory: {
    value: ({ offer }) => offer.gpuMemory,
    column: {
      title: 'VRAM, GB',
      about: 'GPUs, VRAM of each, and total',
      width: 112,
      dropped: 10,
      order: ({ offer: { gpuMemory, gpuCount = 1 } }) => gpuMemory && gpuMemory * gpuCount,
      moreIsBetter: true,
      cell: ({ offer }) => {
        const { gpuMemory: memory, gpuCount = 1 } = offer
        if (memory === undefined) return unknownCell
        const before = gpuCount > 1 ? { before: `${gpuCount} × ${wholeGigabytes(memory)} =` } : {}
        return { text: totalMemory(memory, gpuCount), ...before, more: totalMemoryWords(offer) }
      },
    },
    fact: { group: 'gpu', name: 'VRAM', words: eachAndTotal },
    filter: {
      kind: 'least',
      key: 'memoryFrom',
      name: 'VRAM',
      unit: 'GB',
      formUnit: 'GB per GPU',
      field: 'gpu_ram',
      inField: roundedMegabytes,
      // Up to where it would be shown as more.
      exact: { key: 'memoryTo', inField: gigabytes => Math.ceil((gigabytes + 0.5) * 1024) - 1 },
      usual: [16, 24, 48, 80],
      requirement: figure => `at least ${figure} GB per GPU`,
    },
    search: ({ gpuMemory }) => known(gpuMemory, memory => `${Math.round(memory / 1024)} GB`),
  },
  price: {
    value: ({ price }) => price,
    column: { title: '$/h', width: 62, words: bareRate },
    cli: { title: '>PER HOUR', words: ({ price }) => known(price, money) ?? '–' },
  },
  pricePerGpu: {
    value: ({ pricePerGpu }) => pricePerGpu,
    column: {
      title: '$/GPU·h',
      about: 'Price per GPU and hour',
      unit: '$/GPU·h',
      width: 70,
      dropped: 8,
      words: bareRate,
    },
  },
  score: {
    value: ({ offer }) => offer.scorePerDollar,
    column: {
      title: 'Score/$',
      about: 'Benchmark score per dollar and hour',
      unit: 'score/$',
      width: 68,
      dropped: 7,
      moreIsBetter: true,
      words: score => figure(score, score < 100 ? 1 : 0),
    },
  },
  compute: {
    fact: {
      group: 'gpu',
      name: 'Compute',
      words: ({ compute }) => known(compute, flops => `${figure(flops, 1)} TFLOPS`),
    },
  },
  gpuBandwidth: {
    fact: {
      group: 'gpu',
      name: 'Memory bandwidth',
      words: ({ gpuBandwidth }) => known(gpuBandwidth, speed => `${count(speed)} GB/s each`),
    },
  },
  nvlink: {
    fact: {
      group: 'gpu',
      name: 'Between GPUs',
      words: ({ gpuCount = 1, nvlink }) =>
        gpuCount === 1
          ? undefined
          : known(nvlink, speed => (speed > 0 ? `NVLink, ${count(speed)} GB/s` : 'PCIe')),
    },
  },
  pcie: { fact: { group: 'gpu', name: 'To the host', words: ({ pcie }) => pcieWords(pcie) } },
} as const satisfies Record<string, Field<Priced<OfferedGpus>>>
