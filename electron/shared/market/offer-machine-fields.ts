import { trafficBriefly, trafficWords, unitPrice } from '../format/money.ts'
import { count, diskRoom, gigabits, gpuMemory, tenths } from '../format/size.ts'
import { duration, moment } from '../format/time.ts'
import type { Micros } from '../spending/money.ts'
import type { Field } from './offer-field.ts'
import { joinedWords, known, roundedMegabytes, speeds, unknownCell, wholeGigabytes } from './offer-words.ts'
import { placeText } from './place.ts'

/** What an offer's machine has around the GPUs. */
export interface OfferedMachine {
  driver?: string
  cuda?: number
  cpuName?: string
  cpuCores?: number
  /** MB. */
  memory?: number
  /** GB. */
  disk?: number
  diskName?: string
  /** MB/s. */
  diskBandwidth?: number
  /** Micro-dollars per hour for the storage asked for. */
  storagePrice?: Micros
  /** Dollars per GB of disk and month of 720 hours. */
  storageCost?: number
  /** Mb/s. */
  down?: number
  up?: number
  /** Dollars per GB of traffic. */
  downCost?: number
  upCost?: number
  /** 0 to 1. */
  reliability?: number
  verified?: boolean
  location?: string
  directPorts?: number
  staticIp?: boolean
  datacenter?: boolean
  /** The offer's duration in seconds. */
  lasts?: number
  /** The id for a new volume on its machine, and the most GB that it may have. */
  volumeOffer?: number
  volumeRoom?: number
}

/** The fields of the machine, in the order in which they're shown. */
export const machineFields = {
  cpu: {
    value: ({ offer }) => offer.cpuCores,
    column: {
      title: 'Cores',
      about: 'CPU cores',
      unit: 'cores',
      width: 56,
      dropped: 1,
      isMinor: true,
      moreIsBetter: true,
      words: count,
      more: ({ cpuName }) => cpuName,
    },
    fact: {
      group: 'machine',
      name: 'CPU',
      words: ({ cpuCores, cpuName }) =>
        joinedWords(
          ' ',
          known(cpuCores, cores => `${count(cores)} cores`),
          cpuName,
        ),
    },
    search: ({ cpuName }) => cpuName,
  },
  ram: {
    value: ({ offer }) => offer.memory,
    column: {
      title: 'RAM, GB',
      unit: 'GB RAM',
      width: 68,
      dropped: 3,
      isMinor: true,
      moreIsBetter: true,
      words: wholeGigabytes,
    },
    fact: { group: 'machine', name: 'RAM', words: ({ memory }) => known(memory, gpuMemory) },
    filter: {
      kind: 'least',
      key: 'ramFrom',
      name: 'RAM',
      unit: 'GB',
      field: 'cpu_ram',
      inField: roundedMegabytes,
      usual: [32, 64, 128, 256],
      requirement: figure => `at least ${figure} GB of RAM`,
    },
  },
  disk: {
    value: ({ offer }) => offer.disk,
    column: {
      title: 'Disk, GB',
      about: 'On offer',
      unit: 'GB disk',
      width: 66,
      dropped: 5,
      isMinor: true,
      moreIsBetter: true,
      words: disk => count(Math.floor(disk)),
    },
    fact: {
      group: 'machine',
      name: 'Disk',
      words: ({ disk, diskName, diskBandwidth }) =>
        joinedWords(
          ', ',
          disk === undefined ? undefined : joinedWords(' ', diskRoom(disk), diskName),
          known(diskBandwidth, speed => `${count(speed)} MB/s`),
        ),
    },
    filter: {
      kind: 'least',
      key: 'diskFrom',
      name: 'Disk',
      unit: 'GB',
      field: 'disk_space',
      usual: [50, 100, 500, 1000],
      requirement: figure => `at least ${figure} GB of disk`,
    },
  },
  network: {
    column: {
      title: 'Gb/s ↓ ↑',
      about: 'Download and upload',
      unit: 'Gb/s',
      width: 92,
      dropped: 6,
      isMinor: true,
      order: ({ offer }) => offer.down,
      moreIsBetter: true,
      cell: ({ offer: { down, up } }) =>
        down === undefined && up === undefined
          ? unknownCell
          : { text: [down, up].map(speed => (speed === undefined ? '–' : gigabits(speed))).join(' · ') },
    },
    fact: { group: 'machine', name: 'Network', words: ({ down, up }) => speeds(down, up) },
  },
  down: {
    value: ({ offer }) => offer.down,
    filter: {
      kind: 'least',
      // In Mb/s.
      key: 'downFrom',
      name: 'Download',
      unit: 'Gb/s',
      scale: 0.001,
      digits: 3,
      field: 'inet_down',
      usual: [0.5, 1, 2, 4],
      requirement: figure => `at least ${figure} Gb/s of download`,
      words: speed => `${gigabits(speed)} Gb/s`,
    },
  },
  up: {
    value: ({ offer }) => offer.up,
    filter: {
      kind: 'least',
      // In Mb/s.
      key: 'upFrom',
      name: 'Upload',
      unit: 'Gb/s',
      scale: 0.001,
      digits: 3,
      field: 'inet_up',
      usual: [0.1, 0.5, 1, 5],
      requirement: figure => `at least ${figure} Gb/s of upload`,
      words: speed => `${gigabits(speed)} Gb/s up`,
    },
  },
  traffic: {
    column: {
      title: 'Traffic',
      about: 'Price per GB received and per GB sent',
      unit: '$/GB',
      width: 114,
      dropped: 2,
      isMinor: true,
      order: ({ offer: { downCost, upCost } }) => downCost ?? upCost,
      cell: ({ offer }) => {
        const text = trafficBriefly(offer)
        return text === undefined ? unknownCell : { text, more: trafficWords(offer) }
      },
    },
    fact: {
      group: 'price',
      name: 'Traffic per GB ↓ · ↑',
      words: ({ downCost, upCost }) =>
        downCost === undefined && upCost === undefined
          ? undefined
          : `${trafficPrice(downCost)} · ${trafficPrice(upCost)}`,
    },
  },
  storage: {
    fact: {
      group: 'price',
      name: 'Storage per GB·month',
      words: ({ storageCost }) => known(storageCost, unitPrice),
    },
  },
  cuda: {
    value: ({ offer }) => offer.cuda,
    column: {
      title: 'CUDA',
      about: 'The highest CUDA version',
      unit: 'CUDA',
      width: 50,
      dropped: 4,
      isMinor: true,
      moreIsBetter: true,
      words: tenths,
    },
    fact: {
      group: 'gpu',
      name: 'CUDA, driver',
      words: ({ cuda, driver }) => joinedWords(', ', known(cuda, tenths), driver),
    },
    filter: {
      kind: 'least',
      // A version: 12.4.
      key: 'cudaFrom',
      name: 'CUDA',
      digits: 2,
      field: 'cuda_max_good',
      usual: [12.1, 12.4, 12.8, 13],
      requirement: figure => `CUDA ${figure} or later`,
    },
  },
  duration: {
    value: ({ offer }) => offer.lasts,
    fact: {
      group: 'machine',
      name: 'Available',
      words: ({ lasts }, now) =>
        known(lasts, seconds => `${duration(seconds)}, until ${moment(now + seconds, now)}`),
    },
    filter: {
      kind: 'least',
      key: 'daysFrom',
      name: 'Duration',
      unit: 'days',
      digits: 2,
      field: 'duration',
      inField: days => days * 86_400,
      usual: [1, 7, 30, 90],
      requirement: figure => `available for at least ${figure} days`,
      words: duration,
    },
  },
  ports: {
    value: ({ offer }) => offer.directPorts,
    fact: {
      group: 'machine',
      name: 'Ports',
      words: ({ directPorts, staticIp }) =>
        joinedWords(
          ', ',
          known(directPorts, ports => `${count(ports)} open`),
          staticIp ? 'static IP' : undefined,
        ),
    },
    filter: {
      kind: 'least',
      key: 'portsFrom',
      name: 'Direct ports',
      formUnit: 'ports',
      whole: true,
      field: 'direct_port_count',
      usual: [1, 4, 16, 64],
      requirement: figure => `at least ${figure} direct ports`,
      words: ports => `${count(ports)} ports`,
    },
  },
  staticIp: {
    filter: {
      kind: 'only',
      key: 'staticIp',
      name: 'Static IP',
      field: 'static_ip',
      is: offer => offer.staticIp,
      requirement: 'a static IP address',
      about: 'The machine keeps its public IP address.',
    },
  },
  datacenter: {
    filter: {
      kind: 'only',
      key: 'datacenter',
      name: 'Data center',
      uncommon: true,
      field: 'datacenter',
      is: offer => offer.datacenter,
      requirement: 'in a data center',
      about: 'The service lists the machine as one in a data center.',
    },
  },
  reliability: {
    value: ({ offer }) => offer.reliability,
    column: {
      title: 'Reliable, %',
      about: 'A badge marks verified hosts',
      width: 84,
      dropped: 11,
      moreIsBetter: true,
      // Rounded down, so that only the full share shows 100.
      words: share => tenths(Math.floor(share * 1000) / 10),
    },
    filter: {
      kind: 'least',
      // A share of 0 to 1.
      key: 'reliabilityFrom',
      name: 'Reliability',
      unit: '%',
      scale: 100,
      digits: 4,
      most: 100,
      field: 'reliability2',
      usual: [90, 95, 99, 99.5],
      requirement: figure => `at least ${figure}% reliable`,
    },
  },
  place: {
    column: {
      title: 'Place',
      width: 96,
      dropped: 9,
      isText: true,
      isMinor: true,
      order: ({ offer }) => offer.location,
      cell: ({ offer: { location } }) => (location === undefined ? unknownCell : { text: location }),
    },
    search: ({ location }) => known(location, placeText),
    cli: { title: 'LOCATION', words: ({ location = '' }) => location },
  },
} as const satisfies Record<string, Field<{ offer: OfferedMachine }>>

function trafficPrice(cost: number | undefined): string {
  return cost === undefined ? '–' : cost === 0 ? 'free' : unitPrice(cost)
}
